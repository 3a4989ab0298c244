#include "kstream/status.h"

#include <algorithm>

namespace kstream {
namespace {

constexpr std::string_view kLineEnds = "\r\n";

// What others have to say (an exception, a quoted value) may have several lines.
std::string OneLine(std::string text) {
  if (text.find_first_of(kLineEnds) == text.npos) return text;
  std::string line;
  for (size_t at = 0; (at = text.find_first_not_of(kLineEnds, at)) != text.npos;) {
    const size_t end = std::min(text.find_first_of(kLineEnds, at), text.size());
    if (!line.empty()) line += ' ';
    line.append(text, at, end - at);
    at = end;
  }
  return line;
}

}  // namespace

Status::Status(StatusCode code, std::string message) {
  if (code != StatusCode::kOk) rep_ = std::make_shared<Rep>(Rep{code, OneLine(std::move(message))});
}

Status Status::At(std::string_view where) const {
  if (ok()) return *this;
  return Status(code(), std::string(where) + ": " + rep_->message);
}

}  // namespace kstream
