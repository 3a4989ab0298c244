#include "dsl/store_range.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace kstream::dsl {
namespace {

constexpr size_t kMostKeys = 4096;

}  // namespace

Status DeleteRange(KeyValueStore* store, std::string from, const std::string& to) {
  std::vector<std::string> keys;
  const auto gather = [&keys](std::string_view key, std::string_view, int64_t) {
    keys.emplace_back(key);
    return keys.size() < kMostKeys;
  };
  for (;;) {
    keys.clear();
    KSTREAM_RETURN_IF_ERROR(store->RangeRows(from, to, gather));
    if (keys.empty()) return Status::Ok();
    for (const std::string& key : keys) KSTREAM_RETURN_IF_ERROR(store->Delete(key));
    from = std::move(keys.back());
  }
}

}  // namespace kstream::dsl
