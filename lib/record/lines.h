// Lines of a file, found in place: nothing is copied.
//
// Newline-delimited JSON (engine.md, "Rules that keep data whole"): a line is a record, a byte
// order mark and CRLF are accepted, a line of white space is nothing (but counts as a line, so that
// numbers agree with an editor's), and the last line needs no newline. Raw lines are bytes: only
// the newline is taken off, and an empty line is an empty record. Tested by
// tests/unit/record/lines_test.cc.
#ifndef KSTREAM_RECORD_LINES_H_
#define KSTREAM_RECORD_LINES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kstream {

// A file of text may begin with it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Whether printing `bytes` on a line of their own would break the line.
inline bool HasLineEnd(std::string_view bytes) {
  return !bytes.empty() && (std::memchr(bytes.data(), '\n', bytes.size()) != nullptr ||
                            std::memchr(bytes.data(), '\r', bytes.size()) != nullptr);
}

enum class LineRule : uint8_t { kText, kRaw };

// Goes through the lines of `region`, which must stay readable as long as its lines are used. A
// region begins at the start of a line; its end ends the last line.
class LineSplitter {
 public:
  // `first_of_file`: the region is the start of its file, where a byte order mark may stand.
  LineSplitter(std::string_view region, bool first_of_file, LineRule rule = LineRule::kText);

  // The next line without its line end, and its number in the region from 0. False at the end.
  bool Next(std::string_view* line, size_t* line_number_in_region);

  // Lines gone by, blank ones too: after the end, what to add for the next region.
  size_t lines() const { return lines_; }

 private:
  const char* at_;
  const char* end_;
  size_t lines_ = 0;
  LineRule rule_;
};

}  // namespace kstream

#endif  // KSTREAM_RECORD_LINES_H_
