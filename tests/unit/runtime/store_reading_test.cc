// Stores of a run, read from outside of its threads.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kstream/runtime.h"
#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Counts the lines of a pipe by what they say.
class StoreReading : public testing::TestWithParam<StoreSpec::Engine> {
 protected:
  void SetUp() override {
    ASSERT_EQ(mkfifo((folder_.path() + "/pipe").c_str(), 0600), 0);
    pipe_.open(folder_.path() + "/pipe", std::ios::in | std::ios::out);
    RuntimeOptions options;
    options.state_dir = folder_.path() + "/state";
    options.store_type = GetParam();
    options.commit_interval = milliseconds(1);
    options.partitions = 2;
    const ProcessorSupplier count = Does([](ProcessorContext& context, const Record& record) {
      KSTREAM_ASSIGN_OR_RETURN(StateStore* const found, context.Store("counts"));
      auto* const counts = dynamic_cast<KeyValueStore*>(found);
      KSTREAM_ASSIGN_OR_RETURN(const auto before, counts->Get(*record.value));
      return counts->Put(*record.value, std::to_string(before ? std::stol(*before) + 1 : 1), 7);
    });
    TopologyBuilder builder;
    builder
        .AddSource("in", {.inputs = {{Location::Kind::kFile, "", folder_.path() + "/pipe"}},
                          .key = *Expression::Compile(".")})
        .AddProcessor("count", count, {"in"})
        .AddStore(StoreSpec{.name = "counts"}, {"count"})
        .AddStore("own", InMemoryKeyValueStore(), {"count"})
        .AddSink("out", {.output = {Location::Kind::kFile, "", folder_.path() + "/out"}},
                 {"count"});
    auto runtime = Runtime::Create(*builder.Build(), options);
    ASSERT_TRUE(runtime.ok()) << Said(runtime.status());
    runtime_ = *std::move(runtime);
  }
  void TearDown() override { runtime_.reset(); }

  void Lines(const std::string& lines) { pipe_ << lines << std::flush; }

  // The value in whichever task has the key; "": none has, or has committed it yet.
  std::string Value(const std::string& key) const {
    const auto instances = runtime_->Store("counts");
    EXPECT_TRUE(instances.ok()) << Said(instances.status());
    for (const StoreInstance& instance : *instances) {
      StoredRow row;
      const auto found = instance.rows->Find(key, &row);
      EXPECT_TRUE(found.ok() || found.status().code() == StatusCode::kState);
      if (found.ok() && *found) return row.value;
    }
    return "";
  }
  // Waits for it; a test that waits in vain ends by ctest's limit.
  void Await(const std::string& key, const std::string& value) const {
    while (Value(key) != value) std::this_thread::yield();
  }

  TestFolder folder_;
  std::ofstream pipe_;
  std::unique_ptr<Runtime> runtime_;
};

TEST_P(StoreReading, SeesWhatIsCommittedOfAllTasks) {
  EXPECT_THAT(*runtime_->Store("counts"), IsEmpty());  // nothing runs
  ASSERT_TRUE(runtime_->Start().ok());
  Lines("\"a\"\n\"b\"\n\"a\"\n\"c\"\n\"d\"\n\"e\"\n");
  // Each by itself: what one task has committed says nothing of the other.
  Await("\"a\"", "2");
  for (const char* once : {"\"b\"", "\"c\"", "\"d\"", "\"e\""}) Await(once, "1");
  const auto instances = *runtime_->Store("counts");
  ASSERT_THAT(instances, SizeIs(2));
  size_t rows = 0;
  for (size_t i = 0; i < instances.size(); i++) {
    EXPECT_EQ(instances[i].task, static_cast<int32_t>(i));
    EXPECT_EQ(*instances[i].rows->changelog_offset(), 0);
    const auto visit = [&](std::string_view, std::string_view, int64_t time) {
      EXPECT_EQ(time, 7);
      rows++;
      return true;
    };
    EXPECT_TRUE(instances[i].rows->RangeRows("", std::nullopt, visit).ok());
  }
  EXPECT_EQ(rows, 5U);
}

TEST_P(StoreReading, SaysWhenAnInstanceIsNotHereAnyMore) {
  ASSERT_TRUE(runtime_->Start().ok());
  Lines("\"a\"\n");
  Await("\"a\"", "1");
  const auto instances = *runtime_->Store("counts");
  ASSERT_TRUE(runtime_->Close(std::chrono::minutes(1)).ok());
  StoredRow row;
  for (const StoreInstance& instance : instances) {
    const Status status = instance.rows->Find("\"a\"", &row).status();
    EXPECT_EQ(status.code(), StatusCode::kState);
    EXPECT_THAT(Said(status), HasSubstr("store 'counts' is no longer here"));
  }
  EXPECT_THAT(*runtime_->Store("counts"), IsEmpty());
  runtime_.reset();
  EXPECT_EQ(instances[0].rows->changelog_offset().status().code(), StatusCode::kState);
}

TEST_P(StoreReading, ReadersAndTheRunDoNotDisturbOneAnother) {
  ASSERT_TRUE(runtime_->Start().ok());
  Lines("\"a\"\n");
  Await("\"a\"", "1");
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; i++) {
    readers.emplace_back([&] {
      int64_t last = 0;
      while (!done) {
        const std::string value = Value("\"a\"");
        const int64_t now = value.empty() ? last : std::stol(value);
        EXPECT_GE(now, last);
        last = now;
      }
    });
  }
  for (int i = 2; i <= 300; i++) Lines("\"a\"\n");
  Await("\"a\"", "300");
  EXPECT_TRUE(runtime_->Close(std::chrono::minutes(1)).ok());
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_P(StoreReading, NamesAStoreThatItDoesNotKeep) {
  for (const std::string name : {"nothing", "own"}) {
    const Status status = runtime_->Store(name).status();
    EXPECT_EQ(status.code(), StatusCode::kUsage);
    EXPECT_THAT(Said(status), HasSubstr("'" + name + "'"));
  }
}

INSTANTIATE_TEST_SUITE_P(Both, StoreReading,
                         testing::Values(StoreSpec::Engine::kMemory, StoreSpec::Engine::kRocksDb),
                         [](const auto& info) {
                           return info.param == StoreSpec::Engine::kMemory ? "Memory" : "RocksDb";
                         });

}  // namespace
}  // namespace kstream
