#include "store/committed_reader.h"

#include <thread>

#include "store/kept_store.h"
#include "unit/store/rocksdb/engines.h"

namespace kstream::store {
namespace {

class Readers : public Engines {};

TEST_P(Readers, SeesWhatIsCommittedAndNothingElse) {
  KeptStore store("counts", Open());
  const auto reader = store.reader();
  StoredRow row;
  ASSERT_TRUE(store.Put("a", "1", 5).ok());
  EXPECT_FALSE(*reader->Find("a", &row));
  ASSERT_TRUE(store.Seal(nullptr).ok());
  EXPECT_FALSE(*reader->Find("a", &row));
  ASSERT_TRUE(store.Commit("abc", 41, 9).ok());
  ASSERT_TRUE(*reader->Find("a", &row));
  EXPECT_EQ(row.value, "1");
  EXPECT_EQ(*reader->changelog_offset(), 42);
  Rows rows;
  ASSERT_TRUE(reader
                  ->RangeRows("", std::nullopt,
                              [&](std::string_view key, std::string_view value, int64_t timestamp) {
                                rows[std::string(key)] = {std::string(value), timestamp};
                                return true;
                              })
                  .ok());
  EXPECT_EQ(rows, (Rows{{"a", {"1", 5}}}));
}

TEST_P(Readers, OutlivesItsStoreAndSaysSo) {
  std::shared_ptr<const CommittedReader> reader;
  {
    KeptStore store("counts", Open());
    reader = store.reader();
  }
  StoredRow row;
  const auto visit = [](std::string_view, std::string_view, int64_t) { return true; };
  for (const Status& status : {reader->Find("a", &row).status(), reader->RangeRows("", "z", visit),
                               reader->changelog_offset().status()}) {
    EXPECT_EQ(status.code(), StatusCode::kState);
    EXPECT_EQ(status.message(),
              "store 'counts' is no longer here: its task has ended or moved, ask again where it "
              "runs now");
  }
}

TEST_P(Readers, AWalkEndsEarlyWhenTheStoreCloses) {
  KeptStore store("counts", Open());
  for (int i = 0; i < 1000; i++) ASSERT_TRUE(store.Put(std::to_string(i), "1", 0).ok());
  ASSERT_TRUE(store.Seal(nullptr).ok());
  ASSERT_TRUE(store.Commit("abc", -1, 9).ok());
  std::atomic<bool> is_walking = false;
  Status status;
  std::thread walker([&, reader = store.reader()] {
    // Never says that it has seen enough: only the end of the store ends this.
    while (status.ok()) {
      status =
          reader->RangeRows("", std::nullopt, [&](std::string_view, std::string_view, int64_t) {
            is_walking = true;
            return true;
          });
    }
  });
  while (!is_walking) std::this_thread::yield();
  EXPECT_TRUE(store.CloseEngine().ok());
  walker.join();
  EXPECT_EQ(status.code(), StatusCode::kState);
}

TEST_P(Readers, AreFoundByNameAndTaskUntilTheyEnd) {
  OpenStores open;
  auto first = std::make_unique<KeptStore>("counts", memory::NewEngine());
  auto second = std::make_unique<KeptStore>("counts", Open());
  KeptStore other("count", memory::NewEngine());
  open.Add(10, first->reader());
  open.Add(2, second->reader());
  open.Add(3, other.reader());
  auto found = open.Of("counts");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].task, 2);
  EXPECT_EQ(found[0].rows, second->reader());
  EXPECT_EQ(found[1].task, 10);
  ASSERT_TRUE(second->CloseEngine().ok());  // while `found` keeps the reader
  first.reset();
  EXPECT_TRUE(open.Of("counts").empty());
  // It comes back.
  second = std::make_unique<KeptStore>("counts", Open());
  open.Add(2, second->reader());
  EXPECT_EQ(open.Of("counts").at(0).rows, second->reader());
  EXPECT_EQ(open.Of("count").size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Store, Readers, ::testing::Values(Kind::kMemory, Kind::kRocksDb), NameOf);

}  // namespace
}  // namespace kstream::store
