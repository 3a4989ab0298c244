#include "task/thrown.h"

#include <fmt/format.h>

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
  return Status::Data(fmt::format("{} threw: {}", who, reason));
}

}  // namespace kstream::task
