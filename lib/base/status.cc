#include "kstream/status.h"

namespace kstream {

Status::Status(StatusCode code, std::string message) {
  if (code != StatusCode::kOk) rep_ = std::make_shared<Rep>(Rep{code, std::move(message)});
}

Status Status::At(std::string_view where) const {
  if (ok()) return *this;
  return Status(code(), std::string(where) + ": " + rep_->message);
}

}  // namespace kstream
