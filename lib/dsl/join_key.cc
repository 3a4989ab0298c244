#include "dsl/join_key.h"

#include <cstddef>

#include "dsl/ordered_time.h"

namespace kstream::dsl {
namespace {

template <typename Number>
void AppendNumber(Number number, std::string* key) {
  for (size_t shift = 8 * sizeof(Number); shift > 0;) {
    key->push_back(static_cast<char>(number >> (shift -= 8)));
  }
}

template <typename Number>
Number TakeNumber(std::string_view* key) {
  Number number = 0;
  for (const char c : key->substr(0, sizeof(Number))) {
    number = static_cast<Number>(number << 8 | static_cast<unsigned char>(c));
  }
  key->remove_prefix(sizeof(Number));
  return number;
}

constexpr char kLeft = 'l', kRight = 'r';
// Behind the key: side, time, offset, origin, ordinal.
constexpr size_t kTail = 1 + kOrderedTime + 8 + 8 + 4;

}  // namespace

std::string JoinKey::Prefix(int64_t bucket) {
  std::string prefix;
  AppendOrderedTime(bucket, &prefix);
  return prefix;
}

std::string JoinKey::Prefix(int64_t bucket, std::string_view key) {
  std::string prefix = Prefix(bucket);
  for (const char c : key) {
    prefix.push_back(c);
    if (c == '\0') prefix.push_back('\xff');
  }
  return prefix.append(2, '\0');
}

std::string JoinKey::Of(int64_t bucket, const KeptRecord& record) {
  std::string stored = Prefix(bucket, record.key());
  stored.push_back(record.side == JoinSide::kLeft ? kLeft : kRight);
  AppendOrderedTime(record.time, &stored);
  AppendNumber(static_cast<uint64_t>(record.id.offset), &stored);
  AppendNumber(record.id.origin, &stored);
  AppendNumber(record.id.ordinal, &stored);
  return stored;
}

std::optional<JoinKey> JoinKey::Parse(std::string_view stored) {
  if (stored.size() < kOrderedTime + 2 + kTail || stored[0] < kFirst || stored[0] >= 0) {
    return std::nullopt;
  }
  JoinKey parsed;
  parsed.bucket = OrderedTimeOf(stored);
  stored.remove_prefix(kOrderedTime);
  for (;;) {
    const size_t zero = stored.find('\0');
    if (zero == stored.npos || zero + 1 == stored.size()) return std::nullopt;
    parsed.key.append(stored.substr(0, zero));
    const char next = stored[zero + 1];
    stored.remove_prefix(zero + 2);
    if (next == '\0') break;
    if (next != '\xff') return std::nullopt;
    parsed.key.push_back('\0');
  }
  if (stored.size() != kTail || (stored[0] != kLeft && stored[0] != kRight)) return std::nullopt;
  parsed.side = stored[0] == kLeft ? JoinSide::kLeft : JoinSide::kRight;
  stored.remove_prefix(1);
  parsed.time = OrderedTimeOf(stored);
  stored.remove_prefix(kOrderedTime);
  parsed.id.offset = static_cast<int64_t>(TakeNumber<uint64_t>(&stored));
  parsed.id.origin = TakeNumber<uint64_t>(&stored);
  parsed.id.ordinal = TakeNumber<uint32_t>(&stored);
  return parsed;
}

}  // namespace kstream::dsl
