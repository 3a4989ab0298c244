// ChangelogHash: tells one changelog from another by one record. A checkpoint keeps the hash of the
// last record that its rows contain; a log that has something else at that offset is another log,
// and the store is rebuilt. Part of the format in share/doc/kstream/stores.md, so it never changes.
// Tested by tests/unit/store/changelog_hash_test.cc.
#ifndef KSTREAM_STORE_CHANGELOG_HASH_H_
#define KSTREAM_STORE_CHANGELOG_HASH_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kstream::store {

// FNV-1a, 64 bits, of the key's size (8 bytes, little-endian), the key, and for a value a byte 1
// and the value, for a deletion (nullopt) a byte 0.
uint64_t ChangelogHash(std::string_view key, std::optional<std::string_view> value);

}  // namespace kstream::store

#endif  // KSTREAM_STORE_CHANGELOG_HASH_H_
