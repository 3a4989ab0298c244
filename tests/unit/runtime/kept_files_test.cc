// Stores on disk of runs on files: with an app they stay to be looked at, without one they go with
// the run, whatever its end.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "kstream/runtime.h"
#include "runtime/state_directory.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream {
namespace {

namespace fs = std::filesystem;

class KeptFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_.path() + "/in") << "\"a\"\n\"b\"\n\"a\"\n\"stop\"\n\"c\"\n";
    options_.state_dir = folder_.path() + "/state";
  }

  // The directories of stores that there are now, of any run.
  size_t Directories() const {
    size_t found = 0;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(options_.state_dir, none)) {
      found += entry.path().filename() == "CURRENT" ? 1 : 0;
    }
    return found;
  }

  // Counts the lines in a store, up to one that says "stop", where `stops` says so.
  Status Run(bool stops = false) {
    ProcessorSupplier count = Does([=, this](ProcessorContext& context, const Record& record) {
      directories_ = Directories();
      if (stops && record.value == "\"stop\"") return Status(StatusCode::kState, "told to");
      KSTREAM_ASSIGN_OR_RETURN(StateStore* const found, context.Store("counts"));
      auto* const counts = dynamic_cast<KeyValueStore*>(found);
      KSTREAM_ASSIGN_OR_RETURN(const auto before, counts->Get(*record.value));
      return counts->Put(*record.value, std::to_string(before ? std::stol(*before) + 1 : 1), 0);
    });
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {{Location::Kind::kFile, "", folder_.path() + "/in"}}})
        .AddProcessor("count", count, {"in"})
        .AddStore(StoreSpec{.name = "counts"}, {"count"})
        .AddSink("out", {.output = {Location::Kind::kFile, "", folder_.path() + "/out"}},
                 {"count"});
    auto runtime = Runtime::Create(*builder.Build(), options_);
    return runtime.ok() ? (*runtime)->Run() : runtime.status();
  }

  std::map<std::string, std::string> Kept(const std::string& app) const {
    std::map<std::string, std::string> rows;
    auto engine = store::rocksdb::OpenForReading(options_.state_dir + "/" + app + "/counts/0");
    EXPECT_TRUE(engine.ok()) << Said(engine.status());
    if (!engine.ok()) return rows;
    for (auto at = (*engine)->NewIterator("", std::nullopt); at->Valid(); at->Next()) {
      rows.emplace(at->key(), at->value());
    }
    return rows;
  }

  TestFolder folder_;
  RuntimeOptions options_;
  size_t directories_ = 0;  // while the last record was processed
};

TEST_F(KeptFiles, WithAnAppTheFinalRowsAreOnDiskAfterTheRun) {
  options_.app = "app";
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Kept("app"), (std::map<std::string, std::string>{
                             {"\"a\"", "2"}, {"\"b\"", "1"}, {"\"c\"", "1"}, {"\"stop\"", "1"}}));
  const auto stores = runtime::ListStores(options_.state_dir, "app");
  ASSERT_TRUE(stores.ok());
  EXPECT_EQ(stores->size(), 1U);
}

TEST_F(KeptFiles, AnotherRunBeginsWithNothing) {
  options_.app = "app";
  ASSERT_TRUE(Run().ok());
  std::ofstream(folder_.path() + "/in") << "\"a\"\n";
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Kept("app"), (std::map<std::string, std::string>{{"\"a\"", "1"}}));
}

TEST_F(KeptFiles, ARunThatFailsKeepsWhatItHadDone) {
  options_.app = "app";
  EXPECT_EQ(Run(/*stops=*/true).code(), StatusCode::kState);
  EXPECT_EQ(Kept("app"), (std::map<std::string, std::string>{{"\"a\"", "2"}, {"\"b\"", "1"}}));
}

TEST_F(KeptFiles, WithoutAnAppStoresAreInMemory) {
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(directories_, 0U);
  EXPECT_FALSE(fs::exists(options_.state_dir));
}

TEST_F(KeptFiles, WithoutAnAppStoresOnDiskGoWithTheRun) {
  options_.store_type = StoreSpec::Engine::kRocksDb;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(directories_, 1U);
  EXPECT_TRUE(fs::is_empty(options_.state_dir));
}

TEST_F(KeptFiles, WithoutAnAppStoresOnDiskGoWithARunThatFails) {
  options_.store_type = StoreSpec::Engine::kRocksDb;
  EXPECT_EQ(Run(/*stops=*/true).code(), StatusCode::kState);
  EXPECT_EQ(directories_, 1U);
  EXPECT_TRUE(fs::is_empty(options_.state_dir));
}

TEST_F(KeptFiles, ADirectoryThatCannotBeMadeIsNamed) {
  std::ofstream(folder_.path() + "/state") << "a file";
  options_.store_type = StoreSpec::Engine::kRocksDb;
  const Status status = Run();
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_NE(Said(status).find(options_.state_dir), std::string::npos) << Said(status);
}

}  // namespace
}  // namespace kstream
