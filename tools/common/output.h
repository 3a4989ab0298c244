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
  // Adds an object; pretty ones are shown in columns, all of the form of the first.
  void Row(const nlohmann::ordered_json& row, bool pretty);
  // Adds a row to a table, whose first row has the names of its columns. Columns are as wide as the
  // first thousand rows need; what comes behind those is written as it comes.
  void Cells(std::vector<std::string> cells);
  bool has_cells() const { return !widths_.empty() || !table_.empty(); }

  // False: the reader has gone away, or the write failed: more is for nobody.
  bool open() const { return open_ && status_.ok(); }
  // Writes all; a table ends. kData: stdout cannot be written.
  Status Flush();

 private:
  void Write();
  void Table();
  void Aligned(const std::vector<std::string>& cells);

  std::string lines_;
  std::vector<std::string> names_;               // of the members of rows
  std::vector<std::vector<std::string>> table_;  // until its widths are known
  std::vector<size_t> widths_;                   // once they are
  bool open_ = true;
  Status status_;
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_OUTPUT_H_
