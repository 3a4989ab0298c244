#include "common/tool.h"
#include "kstream-filter/filter_tool.h"

int main(int argc, char** argv) {
  kstream::tools::FilterTool tool;
  return kstream::tools::Main(tool, argc, argv);
}
