#include "task/thrown.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>

namespace kstream::task {

Status Thrown(std::string_view who) {
  std::string reason;
  try {
    throw;
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {
    reason = "something that is no std::exception";
  }
  // A status is one line, and what() may quote data.
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return Status::Data(fmt::format("{} threw: {}", who, reason));
}

}  // namespace kstream::task
