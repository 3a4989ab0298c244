// The bytes of format 1, spelled out: a store that an older kstream wrote must read the same for
// ever.
#include "store/rocksdb/format.h"

#include <gtest/gtest.h>

namespace kstream::store::rocksdb {
namespace {

using std::literals::operator""s;

const Checkpoint kCheckpoint{.incarnation = "0af3",
                             .offset = 0x0102,
                             .last = -1,
                             .last_hash = 0x8877665544332211,
                             .written = 1'700'000'000'000};

std::string Meta() {
  return "\x01\0\0\0"
         "\x02\x01\0\0\0\0\0\0"
         "\xff\xff\xff\xff\xff\xff\xff\xff"
         "\x11\x22\x33\x44\x55\x66\x77\x88"
         "\x00\x68\xe5\xcf\x8b\x01\0\0"
         "0af3"s;
}

TEST(StoreFormat, HasTheCheckpointUnderAKeyOfItsOwn) {
  EXPECT_EQ(kMetaKey, "\0"s);
  EXPECT_EQ(EncodeMeta(kCheckpoint), Meta());
  EXPECT_EQ(FormatOf(Meta()), kFormat);
  EXPECT_EQ(DecodeMeta(Meta()), kCheckpoint);
}

TEST(StoreFormat, TellsWhatIsNoCheckpoint) {
  EXPECT_EQ(FormatOf("\1\0\0"s), std::nullopt);
  for (size_t size = 0; size < Meta().size() - 4; size++) {
    EXPECT_EQ(DecodeMeta(Meta().substr(0, size)), std::nullopt) << size;
  }
  std::string newer = Meta();
  newer[0] = 2;
  EXPECT_EQ(FormatOf(newer), 2u);
  EXPECT_EQ(DecodeMeta(newer), std::nullopt);
}

TEST(StoreFormat, PutsAByteBeforeEveryKey) {
  for (const size_t size : {0, 1, 126, 127, 128, 1000}) {
    const std::string key(size, '\0');
    EXPECT_EQ(RowKey(key).view(), "\1" + key);
  }
  EXPECT_LT(RowKey(std::string(200, '\xff')).view(), kRowsEnd);
  EXPECT_GT(RowKey("").view(), kMetaKey);
}

TEST(StoreFormat, PutsTheTimeBeforeTheValue) {
  const auto time = EncodeTime(-2);
  EXPECT_EQ(std::string(time.data(), time.size()), "\xfe\xff\xff\xff\xff\xff\xff\xff");
  for (const int64_t ms : {int64_t{0}, int64_t{1'700'000'000'000}, INT64_MIN, INT64_MAX}) {
    const auto bytes = EncodeTime(ms);
    EXPECT_EQ(DecodeTime(std::string(bytes.data(), bytes.size()) + "value"), ms);
  }
}

}  // namespace
}  // namespace kstream::store::rocksdb
