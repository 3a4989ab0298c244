#include "common/tool.h"
#include "kstream-map/map_tool.h"

int main(int argc, char** argv) {
  kstream::tools::MapTool tool;
  return kstream::tools::Main(tool, argc, argv);
}
