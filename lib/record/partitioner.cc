#include "record/partitioner.h"

namespace kstream {
namespace {

uint32_t Byte(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

}  // namespace

uint32_t Murmur2(std::string_view bytes) {
  constexpr uint32_t kMultiplier = 0x5bd1e995, kSeed = 0x9747b28c;
  constexpr int kShift = 24;
  uint32_t hash = kSeed ^ static_cast<uint32_t>(bytes.size());
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    uint32_t word = Byte(bytes, at) | Byte(bytes, at + 1) << 8 | Byte(bytes, at + 2) << 16 |
                    Byte(bytes, at + 3) << 24;
    word *= kMultiplier;
    word ^= word >> kShift;
    hash = hash * kMultiplier ^ word * kMultiplier;
  }
  if (at < bytes.size()) {
    for (size_t i = bytes.size(); i-- > at;) hash ^= Byte(bytes, i) << 8 * (i - at);
    hash *= kMultiplier;
  }
  hash ^= hash >> 13;
  hash *= kMultiplier;
  return hash ^ hash >> 15;
}

int32_t PartitionOfKey(const Bytes& key, int32_t partitions, int64_t unkeyed) {
  // The sign bit is dropped, as Utils#toPositive does.
  const int64_t number = key ? Murmur2(*key) & 0x7fffffff : unkeyed;
  return static_cast<int32_t>(number % partitions);
}

}  // namespace kstream
