#include "common/tool.h"
#include "kstream-agg/agg_tool.h"

int main(int argc, char** argv) {
  kstream::tools::AggTool tool;
  return kstream::tools::Main(tool, argc, argv);
}
