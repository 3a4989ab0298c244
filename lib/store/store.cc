// What every state store shares. Tested by tests/unit/store/in_memory_test.cc.
#include "kstream/store.h"

#include <utility>

namespace kstream {
namespace {

// The smallest key greater than all that begin with `prefix`; nullopt when there is none, since a
// prefix of 0xff bytes reaches to the end.
std::optional<std::string> EndOfPrefix(std::string_view prefix) {
  const size_t last = prefix.find_last_not_of('\xff');
  if (last == std::string_view::npos) return std::nullopt;
  std::string end(prefix.substr(0, last + 1));
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace

StateStore::~StateStore() = default;
StoreReader::~StoreReader() = default;

Result<std::optional<std::string>> KeyValueStore::Get(std::string_view key) const {
  StoredRow row;
  KSTREAM_ASSIGN_OR_RETURN(const bool found, Find(key, &row));
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(row.value));
}

Status KeyValueStore::Range(std::string_view from, std::optional<std::string_view> to,
                            const Visitor& visit) const {
  return RangeRows(from, to, [&](std::string_view key, std::string_view value, int64_t) {
    return visit(key, value);
  });
}

Status KeyValueStore::Prefix(std::string_view prefix, const Visitor& visit) const {
  return Range(prefix, EndOfPrefix(prefix), visit);
}

}  // namespace kstream
