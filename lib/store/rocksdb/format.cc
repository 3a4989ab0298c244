#include "store/rocksdb/format.h"

#include <algorithm>
#include <concepts>

namespace kstream::store::rocksdb {
namespace {

template <std::unsigned_integral T>
std::array<char, sizeof(T)> LittleEndian(T number) {
  std::array<char, sizeof(T)> bytes;
  for (char& byte : bytes) {
    byte = static_cast<char>(number & 0xff);
    number = static_cast<T>(number >> 8);
  }
  return bytes;
}

template <std::unsigned_integral T>
T FromLittleEndian(std::string_view bytes) {
  T number = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    number = static_cast<T>((number << 8) | static_cast<unsigned char>(bytes[i]));
  }
  return number;
}

template <std::unsigned_integral T>
void Append(std::string& to, T number) {
  const auto bytes = LittleEndian(number);
  to.append(bytes.data(), bytes.size());
}

template <std::unsigned_integral T>
T Take(std::string_view& from) {
  const T number = FromLittleEndian<T>(from);
  from.remove_prefix(sizeof(T));
  return number;
}

// The numbers before the incarnation.
constexpr size_t kNumbersBytes = sizeof(uint32_t) + 4 * sizeof(uint64_t);

}  // namespace

RowKey::RowKey(std::string_view key) {
  if (key.size() < short_.size()) {
    short_[0] = kRowsBegin[0];
    std::copy(key.begin(), key.end(), short_.begin() + 1);
    view_ = std::string_view(short_.data(), key.size() + 1);
  } else {
    long_.reserve(key.size() + 1);
    long_.append(kRowsBegin).append(key);
    view_ = long_;
  }
}

std::array<char, kTimeBytes> EncodeTime(int64_t timestamp) {
  return LittleEndian(static_cast<uint64_t>(timestamp));
}

int64_t DecodeTime(std::string_view stored) {
  return static_cast<int64_t>(FromLittleEndian<uint64_t>(stored));
}

std::string EncodeMeta(const Checkpoint& checkpoint) {
  std::string meta;
  Append(meta, kFormat);
  Append(meta, static_cast<uint64_t>(checkpoint.offset));
  Append(meta, static_cast<uint64_t>(checkpoint.last));
  Append(meta, checkpoint.last_hash);
  Append(meta, static_cast<uint64_t>(checkpoint.written));
  return meta += checkpoint.incarnation;
}

std::optional<uint32_t> FormatOf(std::string_view meta) {
  if (meta.size() < sizeof(uint32_t)) return std::nullopt;
  return FromLittleEndian<uint32_t>(meta);
}

std::optional<Checkpoint> DecodeMeta(std::string_view meta) {
  if (meta.size() < kNumbersBytes || FormatOf(meta) != kFormat) return std::nullopt;
  meta.remove_prefix(sizeof(uint32_t));
  Checkpoint checkpoint;
  checkpoint.offset = static_cast<int64_t>(Take<uint64_t>(meta));
  checkpoint.last = static_cast<int64_t>(Take<uint64_t>(meta));
  checkpoint.last_hash = Take<uint64_t>(meta);
  checkpoint.written = static_cast<int64_t>(Take<uint64_t>(meta));
  checkpoint.incarnation = meta;
  return checkpoint;
}

}  // namespace kstream::store::rocksdb
