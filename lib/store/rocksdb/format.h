// The form of a store on disk, format 1: share/doc/kstream/stores.md describes it. All keys begin
// with a byte of ours, so that no key of a user can meet the checkpoint. Tested by
// tests/unit/store/rocksdb/format_test.cc.
#ifndef KSTREAM_STORE_ROCKSDB_FORMAT_H_
#define KSTREAM_STORE_ROCKSDB_FORMAT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/engine.h"

namespace kstream::store::rocksdb {

constexpr uint32_t kFormat = 1;
constexpr std::string_view kMetaKey("\0", 1);
constexpr std::string_view kRowsBegin("\1", 1);
constexpr std::string_view kRowsEnd("\2", 1);

// A user's key with the byte before it; in a buffer of its own while it is short.
class RowKey {
 public:
  explicit RowKey(std::string_view key);
  RowKey(const RowKey&) = delete;
  RowKey& operator=(const RowKey&) = delete;
  std::string_view view() const { return view_; }

 private:
  std::array<char, 128> short_;
  std::string long_;
  std::string_view view_;
};

// A row's value: the time, then the bytes.
constexpr size_t kTimeBytes = 8;
std::array<char, kTimeBytes> EncodeTime(int64_t timestamp);
// `stored` has kTimeBytes at least.
int64_t DecodeTime(std::string_view stored);

std::string EncodeMeta(const Checkpoint& checkpoint);
// The format number that `meta` begins with; nullopt: not even that.
std::optional<uint32_t> FormatOf(std::string_view meta);
// Of format 1; nullopt: it is damaged.
std::optional<Checkpoint> DecodeMeta(std::string_view meta);

}  // namespace kstream::store::rocksdb

#endif  // KSTREAM_STORE_ROCKSDB_FORMAT_H_
