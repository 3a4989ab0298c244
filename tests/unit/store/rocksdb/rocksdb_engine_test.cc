// What only the engine in RocksDB does: it survives its process, is looked into by others, reaches
// the disk by itself, and stays small.
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <random>

#include "unit/store/rocksdb/engines.h"

namespace kstream::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Checkpoint At(int64_t offset, int64_t written = 1) {
  return {.incarnation = "abc", .offset = offset, .last = offset - 1, .written = written};
}

// Each file's name, time of last change, and content.
using Listing = std::map<std::string, std::pair<fs::file_time_type, std::string>>;

class RocksDbEngine : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> Open() { return Checked(rocksdb::Open(path(), memory_)); }
  std::unique_ptr<Engine> Look() { return Checked(rocksdb::OpenForReading(path())); }
  static std::unique_ptr<Engine> Checked(Result<std::unique_ptr<Engine>> engine) {
    EXPECT_TRUE(engine.ok()) << engine.status().message();
    return *std::move(engine);
  }
  static void Write(Engine& engine, std::string_view key, std::string_view value, Checkpoint at) {
    ASSERT_TRUE(engine.Write(std::vector<Change>{{key, value, 5}}, at).ok());
  }
  // The offset on disk, once `enough` says so: a flush that was started is awaited.
  int64_t OffsetOnDisk(const std::function<bool(int64_t)>& enough) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    int64_t offset = 0;
    do {
      offset = Look()->checkpoint().offset;
    } while (!enough(offset) && std::chrono::steady_clock::now() < deadline);
    return offset;
  }
  Listing List() const {
    Listing listing;
    for (const auto& entry : fs::directory_iterator(path())) {
      std::ifstream file(entry.path(), std::ios::binary);
      listing[entry.path().filename()] = {entry.last_write_time(),
                                          {std::istreambuf_iterator<char>(file), {}}};
    }
    return listing;
  }
  std::string path() const { return folder_.path() + "/app/0_1/store"; }

  TestFolder folder_;
  std::shared_ptr<rocksdb::Memory> memory_ = rocksdb::Memory::New(16 << 20);
};

TEST_F(RocksDbEngine, SurvivesAStop) {
  auto engine = Open();
  Write(*engine, "a", "1", At(7));
  engine.reset();  // without a word: the same as Close
  engine = Open();
  EXPECT_EQ(RowsOf(*engine), (Rows{{"a", {"1", 5}}}));
  EXPECT_EQ(engine->checkpoint(), At(7));
}

TEST_F(RocksDbEngine, IsForgottenForGoodByClear) {
  auto engine = Open();
  Write(*engine, "a", "1", At(7));
  ASSERT_TRUE(engine->Flush().ok());
  ASSERT_TRUE(engine->Clear().ok());
  EXPECT_EQ(RowsOf(*Look()), Rows{});
  EXPECT_EQ(Look()->checkpoint(), Checkpoint{});
}

TEST_F(RocksDbEngine, IsSeenByOthersAsOfItsLastFlush) {
  const auto engine = Open();
  Write(*engine, "a", "1", At(1));
  ASSERT_TRUE(engine->Flush().ok());
  Write(*engine, "a", "2", At(2));
  const auto other = Look();
  EXPECT_EQ(RowsOf(*other), (Rows{{"a", {"1", 5}}}));
  EXPECT_EQ(other->checkpoint(), At(1));
  ASSERT_TRUE(engine->Flush().ok());
  EXPECT_EQ(other->checkpoint(), At(1));
  EXPECT_EQ(RowsOf(*Look()), (Rows{{"a", {"2", 5}}}));
}

TEST_F(RocksDbEngine, AViewOutlivesTheFilesThatItsOwnerDeletes) {
  const auto engine = Open();
  Write(*engine, "a", "1", At(1));
  ASSERT_TRUE(engine->Flush().ok());
  const auto other = Look();
  ASSERT_TRUE(engine->Clear().ok());
  Write(*engine, "b", "2", At(2));
  ASSERT_TRUE(engine->Flush().ok());
  EXPECT_EQ(RowsOf(*other), (Rows{{"a", {"1", 5}}}));
}

TEST_F(RocksDbEngine, IsNotChangedByLooking) {
  auto engine = Open();
  for (int i = 0; i < 3; i++) {  // too few files for its owner to compact them meanwhile
    Write(*engine, std::to_string(i), "1", At(i + 1));
    ASSERT_TRUE(engine->Flush().ok());
  }
  for (const bool runs : {true, false}) {
    if (!runs) engine.reset();
    const Listing before = List();
    {
      const auto other = Look();
      EXPECT_EQ(RowsOf(*other).size(), 3u);
      EXPECT_GT(other->Stats().bytes, 0u);
      const Status status = other->Write({}, At(9));
      EXPECT_EQ(status.code(), StatusCode::kState);
      EXPECT_THAT(std::string(status.message()), HasSubstr("cannot write the store in " + path()));
      EXPECT_EQ(other->Clear().code(), StatusCode::kState);
    }
    EXPECT_EQ(List(), before);
  }
}

TEST_F(RocksDbEngine, ReachesTheDiskHalfAMinuteAfterTheLastFlush) {
  const auto engine = Open();
  Write(*engine, "a", "1", At(1, 1'000'000));
  Write(*engine, "a", "2", At(2, 1'029'999));
  EXPECT_EQ(Look()->checkpoint().offset, 0);
  Write(*engine, "a", "3", At(3, 1'030'000));
  EXPECT_EQ(OffsetOnDisk([](int64_t offset) { return offset > 0; }), 3);
  Write(*engine, "a", "4", At(4, 1'059'999));
  EXPECT_EQ(Look()->checkpoint().offset, 3);
  Write(*engine, "a", "5", At(5, 900'000));  // a clock that was set back
  EXPECT_EQ(OffsetOnDisk([](int64_t offset) { return offset > 3; }), 5);
}

TEST_F(RocksDbEngine, ReachesTheDiskWhenItsBufferIsFull) {
  const auto engine = Open();
  const std::string value(100'000, 'x');
  for (int i = 0; i < 50; i++) Write(*engine, std::to_string(i), value, At(i + 1));
  EXPECT_GT(OffsetOnDisk([](int64_t offset) { return offset > 0; }), 0);
}

TEST_F(RocksDbEngine, TellsHowLargeItIs) {
  const auto engine = Open();
  std::mt19937 random(1);
  std::string value(1000, ' ');
  for (int i = 0; i < 100; i++) {
    for (char& byte : value) byte = static_cast<char>(random());
    Write(*engine, std::to_string(i), value, At(i + 1));
  }
  ASSERT_TRUE(engine->Flush().ok());
  EXPECT_EQ(engine->Stats().rows, 100u);
  EXPECT_GT(engine->Stats().bytes, 100'000u);
  EXPECT_LT(engine->Stats().bytes, 1'000'000u);
}

// Many stores write more than the budget, and what the databases hold in memory stays within it.
TEST_F(RocksDbEngine, SharesOneBudgetWithTheOthers) {
  constexpr uint64_t kBudget = 24 << 20;
  const auto memory = rocksdb::Memory::New(kBudget);
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i < 8; i++) {
    engines.push_back(Checked(rocksdb::Open(path() + std::to_string(i), memory)));
  }
  std::mt19937 random(1);
  std::string value(10'000, ' ');
  uint64_t most = 0;
  for (int i = 0; i < 6'000; i++) {
    for (char& byte : value) byte = static_cast<char>(random());
    Write(*engines[i % 8], std::to_string(i), value, At(i + 1));
    most = std::max(most, memory->used());
  }
  for (const auto& engine : engines) EXPECT_FALSE(RowsOf(*engine).empty());
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, kBudget);
  EXPECT_LE(memory->used(), kBudget);
}

// No file of a log of what RocksDB did, which would grow for ever.
TEST_F(RocksDbEngine, LeavesNoLogFiles) {
  for (int i = 0; i < 3; i++) Write(*Open(), "a", "1", At(i + 1));
  for (const auto& entry : fs::directory_iterator(path())) {
    const std::string name = entry.path().filename();
    EXPECT_FALSE(name.starts_with("LOG")) << name;
    if (name.ends_with(".log")) {
      EXPECT_EQ(entry.file_size(), 0u) << name;
    }
  }
}

}  // namespace
}  // namespace kstream::store
