#include "common/tool.h"
#include "kstream-run/run_tool.h"

int main(int argc, char** argv) {
  kstream::tools::RunTool tool;
  return kstream::tools::Main(tool, argc, argv);
}
