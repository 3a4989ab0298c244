#include "record/lines.h"

namespace kstream {
namespace {

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

LineSplitter::LineSplitter(std::string_view region, bool first_of_file, LineRule rule)
    : at_(region.data()), end_(region.data() + region.size()), rule_(rule) {
  if (first_of_file && rule == LineRule::kText && region.starts_with(kByteOrderMark)) {
    at_ += kByteOrderMark.size();
  }
}

bool LineSplitter::Next(std::string_view* line, size_t* line_number_in_region) {
  while (at_ != end_) {
    const auto* newline =
        static_cast<const char*>(std::memchr(at_, '\n', static_cast<size_t>(end_ - at_)));
    const char* stop = newline != nullptr ? newline : end_;
    std::string_view found(at_, static_cast<size_t>(stop - at_));
    at_ = newline != nullptr ? newline + 1 : end_;
    size_t number = lines_++;
    if (rule_ == LineRule::kText) {
      if (IsBlank(found)) continue;
      if (found.back() == '\r') found.remove_suffix(1);
    }
    *line = found;
    *line_number_in_region = number;
    return true;
  }
  return false;
}

}  // namespace kstream
