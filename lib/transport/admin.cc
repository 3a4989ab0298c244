#include "transport/admin.h"

namespace kstream::transport {

Status GroupInUse(const std::string& group) {
  return Status::Refused("group " + group + " has members: stop them first");
}

}  // namespace kstream::transport
