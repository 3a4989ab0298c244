#include "common/tool.h"
#include "kstream-join/join_tool.h"

int main(int argc, char** argv) {
  kstream::tools::JoinTool tool;
  return kstream::tools::Main(tool, argc, argv);
}
