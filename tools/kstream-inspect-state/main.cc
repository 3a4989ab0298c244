#include "common/tool.h"
#include "kstream-inspect-state/inspect_tool.h"

int main(int argc, char** argv) {
  kstream::tools::InspectTool tool;
  return kstream::tools::Main(tool, argc, argv);
}
