// FNV-1a is slow beside others, and is asked once an epoch.
#include "store/changelog_hash.h"

namespace kstream::store {
namespace {

class Fnv {
 public:
  void Add(std::string_view bytes) {
    for (const char byte : bytes) Add(static_cast<unsigned char>(byte));
  }
  void Add(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3; }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace

uint64_t ChangelogHash(std::string_view key, std::optional<std::string_view> value) {
  Fnv fnv;
  for (int shift = 0; shift < 64; shift += 8) {
    fnv.Add(static_cast<unsigned char>(static_cast<uint64_t>(key.size()) >> shift));
  }
  fnv.Add(key);
  fnv.Add(static_cast<unsigned char>(value.has_value()));
  if (value) fnv.Add(*value);
  return fnv.hash();
}

}  // namespace kstream::store
