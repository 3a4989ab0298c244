#include "store/rocksdb/errors.h"

#include <fmt/format.h>
#include <rocksdb/status.h>

#include "base/printable.h"

namespace kstream::store::rocksdb {
namespace {

// That another process, or another engine of this one, has the directory is told by the text alone.
bool IsLocked(const ::rocksdb::Status& status) {
  if (!status.IsIOError()) return false;
  const std::string text = status.ToString();
  return text.find("lock file") != std::string::npos || text.find("lock hold") != std::string::npos;
}

}  // namespace

Status Damaged(std::string_view directory, std::string_view how) {
  return {
      StatusCode::kState,
      fmt::format("the store in {} is damaged ({}): remove that directory, it is restored from its "
                  "changelog",
                  Printable(directory), Printable(how))};
}

Status Told(const ::rocksdb::Status& status, std::string_view doing, std::string_view directory) {
  if (status.ok()) return Status::Ok();
  const std::string where = Printable(directory);
  if (status.IsNoSpace()) {
    return {
        StatusCode::kState,
        fmt::format("cannot {} the store in {}: disk is full: free some or use another --state-dir",
                    doing, where)};
  }
  if (IsLocked(status)) {
    return {StatusCode::kState,
            fmt::format("the store in {} is in use: end the process that has it, or use another "
                        "--state-dir",
                        where)};
  }
  if (status.IsCorruption()) return Damaged(directory, status.ToString());
  return {StatusCode::kState,
          fmt::format("cannot {} the store in {}: {}", doing, where, Printable(status.ToString()))};
}

}  // namespace kstream::store::rocksdb
