// Output: lines for stdout, gathered so that a million of them are not a million writes; rows of
// numbers and names as JSON lines for programs, or as one table for people.
//
// Tested by tests/system/inspect.bats.
#ifndef KSTREAM_TOOLS_COMMON_OUTPUT_H_
#define KSTREAM_TOOLS_COMMON_OUTPUT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/status.h"

namespace kstream::tools {

class Output {
 public:
  // Adds a line, without its end.
  void Line(std::string_view text);
  // Adds an object; pretty ones are shown in columns by Flush, all of the form of the first.
  void Row(const nlohmann::ordered_json& row, bool pretty);

  // False: the reader has gone away, or the write failed: more is for nobody.
  bool open() const { return open_ && status_.ok(); }
  // Writes all. kData: stdout cannot be written.
  Status Flush();

 private:
  void Write();
  void Table();

  std::string lines_;
  std::vector<std::vector<std::string>> table_;  // the first row has the names
  bool open_ = true;
  Status status_;
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_OUTPUT_H_
