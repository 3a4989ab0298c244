// A process that is killed in the midst of its epochs leaves a store whose rows are those of its
// checkpoint, and the next one goes on from there.
//
// The writer is a process of its own that runs this program again (RocksDB's threads would not
// outlive a fork) and kills itself. Epochs are made from their number and the seed alone, so
// whoever reads a checkpoint knows what the rows must be.
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <random>

#include "unit/store/rocksdb/engines.h"

namespace kstream::store {
namespace {

constexpr const char* kFolderVariable = "KSTREAM_CRASH_TEST_FOLDER";
constexpr int kLives = 4;

struct Epoch {
  std::map<std::string, std::optional<std::string>> changes;
  bool replaces = false;
  int64_t written = 0;
};

Epoch EpochOf(uint32_t seed, int64_t number) {
  std::mt19937 random(seed * 1'000'003 + static_cast<uint32_t>(number));
  Epoch epoch;
  for (uint32_t i = 1 + random() % 400; i > 0; i--) {
    auto& value = epoch.changes[std::to_string(random() % 3000)];
    if (random() % 4 != 0) value = std::string(random() % 300, static_cast<char>(random()));
  }
  epoch.replaces = random() % 100 == 0;
  epoch.written = 1 + number * 5'000;  // so that every sixth is flushed by time
  return epoch;
}

Rows RowsAt(uint32_t seed, int64_t offset) {
  Rows rows;
  for (int64_t number = 0; number < offset; number++) {
    const Epoch epoch = EpochOf(seed, number);
    if (epoch.replaces) rows.clear();
    for (const auto& [key, value] : epoch.changes) {
      rows.erase(key);
      if (value) rows[key] = {*value, number};
    }
  }
  return rows;
}

class Crash : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (const char* folder = getenv(kFolderVariable)) {
      is_writer_ = true;
      path_ = folder;
    } else {
      folder_.emplace();
      path_ = folder_->path() + "/store";
      setenv(kFolderVariable, path_.c_str(), 1);
    }
  }
  void TearDown() override { unsetenv(kFolderVariable); }

  std::unique_ptr<Engine> Open() {
    auto engine = rocksdb::Open(path_, memory_);
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return *std::move(engine);
  }

  // A life is 1 to 150 epochs; the smallest buffers are full every tenth or so.
  [[noreturn]] void WriteUntilKilled(int life) {
    std::mt19937 random(GetParam() * 100 + static_cast<uint32_t>(life));
    const auto engine = Open();
    int64_t number = engine->checkpoint().offset;
    for (uint32_t i = 1 + random() % 150; i > 0; i--, number++) {
      const Epoch epoch = EpochOf(GetParam(), number);
      std::vector<Change> changes;
      for (const auto& [key, value] : epoch.changes) changes.push_back({key, value, number});
      const Checkpoint checkpoint{.incarnation = "abc",
                                  .offset = number + 1,
                                  .last = number,
                                  .last_hash = static_cast<uint64_t>(number),
                                  .written = epoch.written};
      const Status status = epoch.replaces  ? engine->Replace(changes, checkpoint)
                            : life % 2 == 1 ? engine->Load(changes, checkpoint)
                                            : engine->Write(changes, checkpoint);
      if (!status.ok()) abort();
    }
    raise(SIGKILL);
    abort();
  }

  std::optional<TestFolder> folder_;
  std::string path_;
  bool is_writer_ = false;
  std::shared_ptr<rocksdb::Memory> memory_ = rocksdb::Memory::New(0);
};

TEST_P(Crash, LeavesRowsOfItsCheckpoint) {
  int64_t furthest = 0;
  for (int life = 0; life < kLives; life++) {
    EXPECT_EXIT(WriteUntilKilled(life), ::testing::KilledBySignal(SIGKILL), "");
    if (is_writer_) continue;  // it comes to its life, past those of others
    const auto engine = Open();
    const Checkpoint checkpoint = engine->checkpoint();
    EXPECT_GE(checkpoint.offset, furthest);
    furthest = checkpoint.offset;
    EXPECT_EQ(checkpoint.last, checkpoint.offset - 1);
    EXPECT_EQ(RowsOf(*engine), RowsAt(GetParam(), checkpoint.offset));
    // Looking changed nothing: the store has no newer state than the one found.
    EXPECT_TRUE(engine->Close().ok());
  }
  if (!is_writer_) {
    EXPECT_GT(furthest, 0) << "nothing ever reached the disk: nothing was tested";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Crash, ::testing::Range(1u, 9u));

}  // namespace
}  // namespace kstream::store
