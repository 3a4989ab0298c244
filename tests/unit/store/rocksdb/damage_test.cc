// Stores that cannot be used as they are: each is refused in one line that says what to do, or
// opened with rows that some checkpoint of its owner had. Wrong rows never.
#include <gmock/gmock.h>
#include <rocksdb/db.h>
#include <rocksdb/status.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "store/rocksdb/errors.h"
#include "store/rocksdb/format.h"
#include "unit/store/rocksdb/engines.h"

namespace kstream::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class Damage : public ::testing::Test {
 protected:
  // Epoch i puts row "i" and changes "all"; so the offset tells the rows. Several files, one per
  // flush.
  static constexpr int kEpochs = 12;
  static Rows RowsAt(int64_t offset) {
    Rows rows;
    for (int64_t i = 0; i < offset; i++) {
      rows[std::to_string(1000 + i)] = {std::string(200, static_cast<char>('a' + i)), i};
      rows["all"] = {std::to_string(i), i};
    }
    return rows;
  }

  void Make() {
    auto engine = rocksdb::Open(path(), memory_);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    for (int i = 0; i < kEpochs; i++) {
      const std::string key = std::to_string(1000 + i), all = std::to_string(i);
      const std::string value(200, static_cast<char>('a' + i));
      const Checkpoint checkpoint{.incarnation = "abc", .offset = i + 1, .last = i, .written = 1};
      ASSERT_TRUE(
          (*engine)->Write(std::vector<Change>{{key, value, i}, {"all", all, i}}, checkpoint).ok());
      if (i % 4 == 3) {
        ASSERT_TRUE((*engine)->Flush().ok());
      }
    }
    ASSERT_TRUE((*engine)->Close().ok());
  }

  // Reads everything, point by point and as a walk. Ok: all of it was right.
  static Status Examine(Result<std::unique_ptr<Engine>> opened) {
    KSTREAM_RETURN_IF_ERROR(opened.status());
    const Engine& engine = **opened;
    const Rows truth = RowsAt(engine.checkpoint().offset);
    StoredRow row;
    for (const auto& [key, expected] : truth) {
      KSTREAM_ASSIGN_OR_RETURN(const bool found, engine.Find(key, &row));
      EXPECT_TRUE(found) << key;
      EXPECT_EQ(std::pair(row.value, row.timestamp), expected) << key;
    }
    Rows rows;
    const auto it = engine.NewIterator("", std::nullopt);
    for (; it->Valid(); it->Next()) {
      rows[std::string(it->key())] = {std::string(it->value()), it->timestamp()};
    }
    KSTREAM_RETURN_IF_ERROR(it->status());
    EXPECT_EQ(rows, truth);
    return Status::Ok();
  }

  static void ExpectRightOrRefused(Result<std::unique_ptr<Engine>> opened) {
    const Status status = Examine(std::move(opened));
    if (status.ok()) return;
    EXPECT_EQ(status.code(), StatusCode::kState);
    EXPECT_EQ(status.message().find('\n'), std::string_view::npos);
    EXPECT_THAT(std::string(status.message()), HasSubstr(".damaged"));  // which directory
  }

  std::string path() const { return folder_.path() + "/store"; }

  TestFolder folder_;
  std::shared_ptr<rocksdb::Memory> memory_ = rocksdb::Memory::New(16 << 20);
};

TEST_F(Damage, EveryFileCutOrFlippedIsRefusedOrRight) {
  Make();
  const std::string damaged = folder_.path() + "/store.damaged";
  std::mt19937 random(3);
  for (const auto& entry : fs::directory_iterator(path())) {
    const std::string whole = Read(entry.path());
    for (int i = 0; i < 40; i++) {
      std::string bytes = whole;
      if (i == 0) {
        bytes.clear();
      } else if (whole.empty()) {
        break;
      } else if (i % 4 == 0) {
        bytes.resize(random() % whole.size());
      } else {
        bytes[random() % whole.size()] ^= static_cast<char>(1 << random() % 8);
      }
      SCOPED_TRACE(entry.path().filename().string() + ", damage " + std::to_string(i));
      fs::remove_all(damaged);
      fs::copy(path(), damaged);
      Write(damaged + "/" + entry.path().filename().string(), bytes);
      ExpectRightOrRefused(rocksdb::OpenForReading(damaged));
      ExpectRightOrRefused(rocksdb::Open(damaged, memory_));
    }
  }
}

TEST_F(Damage, EveryFileMissingIsRefusedOrRight) {
  Make();
  const std::string damaged = folder_.path() + "/store.damaged";
  for (const auto& entry : fs::directory_iterator(path())) {
    SCOPED_TRACE(entry.path().filename().string());
    fs::remove_all(damaged);
    fs::copy(path(), damaged);
    fs::remove(damaged + "/" + entry.path().filename().string());
    ExpectRightOrRefused(rocksdb::OpenForReading(damaged));
    ExpectRightOrRefused(rocksdb::Open(damaged, memory_));
  }
}

TEST_F(Damage, AFlippedRowIsSaidToBeDamaged) {
  Make();
  for (const auto& entry : fs::directory_iterator(path())) {
    if (entry.path().extension() != ".sst") continue;
    std::string bytes = Read(entry.path());
    bytes[bytes.find("all")] ^= 1;
    Write(entry.path(), bytes);
  }
  const Status status = Examine(rocksdb::Open(path(), memory_));
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the store in " + path() + " is damaged ("));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("remove that directory, it is restored from its changelog"));
}

// Writes into a database of ours what none of ours writes.
class Foreign : public Damage {
 protected:
  Status OpenWith(std::string_view key, std::string_view value) {
    ::rocksdb::Options options;
    options.create_if_missing = true;
    ::rocksdb::DB* db = nullptr;
    EXPECT_TRUE(::rocksdb::DB::Open(options, path(), &db).ok());
    EXPECT_TRUE(db->Put({}, ::rocksdb::Slice(key), ::rocksdb::Slice(value)).ok());
    delete db;
    return Examine(rocksdb::Open(path(), memory_));
  }
};

TEST_F(Foreign, ANewerFormatIsRefused) {
  std::string meta = rocksdb::EncodeMeta({.incarnation = "abc"});
  meta[0] = 2;
  EXPECT_EQ(
      OpenWith(rocksdb::kMetaKey, meta).message(),
      "the store in " + path() +
          " has format 2, which a newer kstream wrote (this one knows 1): use that, or remove the "
          "directory, it is restored from its changelog");
}

TEST_F(Foreign, AnotherDatabaseIsRefused) {
  EXPECT_THAT(std::string(OpenWith("someone's", "row").message()),
              HasSubstr("is damaged (rows without a checkpoint)"));
}

TEST_F(Foreign, ACheckpointThatIsNoneIsRefused) {
  EXPECT_THAT(std::string(OpenWith(rocksdb::kMetaKey, "\1").message()),
              HasSubstr("is damaged (its checkpoint cannot be read)"));
}

TEST_F(Damage, AStoreInUseIsSaidToBe) {
  const auto owner = rocksdb::Open(path(), memory_);
  ASSERT_TRUE(owner.ok());
  const auto second = rocksdb::Open(path(), memory_);
  EXPECT_EQ(second.status().code(), StatusCode::kState);
  EXPECT_EQ(second.status().message(),
            "the store in " + path() +
                " is in use: end the process that has it, or use another --state-dir");
}

TEST_F(Damage, AStoreThatAnotherProcessHasIsSaidToBe) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  // fcntl locks are by process, and RocksDB does not ask the file when it has the lock itself.
  const pid_t owner = fork();
  if (owner == 0) {
    fs::create_directories(path());
    ::rocksdb::FileLock* lock = nullptr;
    const bool locked = ::rocksdb::Env::Default()->LockFile(path() + "/LOCK", &lock).ok();
    (void)!write(ready[1], locked ? "y" : "n", 1);
    pause();
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  const auto opened = rocksdb::Open(path(), memory_);
  kill(owner, SIGKILL);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("is in use: end the process"));
}

TEST_F(Damage, WhereThereIsNoStoreNothingIsMadeByLooking) {
  EXPECT_EQ(rocksdb::OpenForReading(path()).status().message(), "there is no store in " + path());
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(Damage, ADirectoryThatCannotBeMadeIsSaid) {
  Write(path(), "a file");
  const auto opened = rocksdb::Open(path() + "/deep", memory_);
  EXPECT_EQ(opened.status().code(), StatusCode::kState);
  EXPECT_EQ(opened.status().message(),
            "cannot make the directory " + path() + "/deep of a store: Not a directory");
}

TEST_F(Damage, NoRoomIsSaidWithWhatToDo) {
  const Status status = rocksdb::Told(::rocksdb::Status::NoSpace("a\nb"), "write", "/x\ny");
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_EQ(
      status.message(),
      "cannot write the store in /x\\u000ay: disk is full: free some or use another --state-dir");
}

// A file system of 1 MiB, where one may be mounted.
TEST_F(Damage, AFullDiskEndsInThatMessageAndAStoreThatIsRight) {
  fs::create_directories(path());
  if (mount("none", path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "may not mount a file system here";
  }
  Status status;
  int64_t flushed = 0;
  {
    auto engine = rocksdb::Open(path(), memory_);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    std::mt19937 random(1);
    for (int64_t i = 0; i < 100 && status.ok(); i++) {
      std::string value(100'000, ' ');
      for (char& byte : value) byte = static_cast<char>(random());
      status = (*engine)->Write(std::vector<Change>{{std::to_string(i), value, i}},
                                {.incarnation = "abc", .offset = i + 1, .last = i, .written = 1});
      if (status.ok()) status = (*engine)->Flush();
      if (status.ok()) flushed = i + 1;
    }
    EXPECT_FALSE((*engine)->Close().ok());
  }
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(std::string(status.message()), HasSubstr("disk is full: free some"));
  {
    const auto engine = rocksdb::OpenForReading(path());
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    StoredRow row;
    EXPECT_EQ((*engine)->checkpoint().offset, flushed);
    EXPECT_TRUE(*(*engine)->Find(std::to_string(flushed - 1), &row));
    EXPECT_FALSE(*(*engine)->Find(std::to_string(flushed), &row));
  }
  EXPECT_EQ(umount(path().c_str()), 0);
}

}  // namespace
}  // namespace kstream::store
