#include "store/kept_store.h"

#include <gmock/gmock.h>

#include <random>

#include "store/changelog_hash.h"
#include "unit/store/rocksdb/engines.h"

namespace kstream::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A changelog: what was appended, and what a restore from it would make.
class Log final : public ChangelogSink {
 public:
  Status Append(const Change& change) override {
    if (fails_) return Status::Cluster("the changelog takes nothing");
    last_hash_ = ChangelogHash(change.key, change.value);
    lines_.push_back(std::string(change.key) + "=" + std::string(change.value.value_or("-")));
    rows_.erase(std::string(change.key));
    if (change.value) {
      rows_[std::string(change.key)] = {std::string(*change.value), change.timestamp};
    }
    return Status::Ok();
  }

  std::vector<std::string> Lines() { return std::exchange(lines_, {}); }
  int64_t last() const { return static_cast<int64_t>(count_) - 1; }

  std::vector<std::string> lines_;
  size_t count_ = 0;
  Rows rows_;
  uint64_t last_hash_ = 0;
  bool fails_ = false;
};

Rows RowsOf(const KeyValueStore& store, std::string_view from = "",
            std::optional<std::string_view> to = std::nullopt) {
  Rows rows;
  std::string last;
  const Status status = store.RangeRows(
      from, to, [&](std::string_view key, std::string_view value, int64_t timestamp) {
        EXPECT_TRUE(rows.empty() || last < key) << "out of order";
        last = key;
        rows.emplace(last, std::pair(std::string(value), timestamp));
        return true;
      });
  EXPECT_TRUE(status.ok()) << status.message();
  return rows;
}

class KeptStores : public Engines {
 protected:
  void SetUp() override { Make(); }
  void Make(std::shared_ptr<RowBudget> budget = nullptr) {
    store_.reset();
    store_ = std::make_unique<KeptStore>("counts", Open(), std::move(budget));
  }

  void Put(std::string_view key, std::string_view value, int64_t time = 0) {
    ASSERT_TRUE(store_->Put(key, value, time).ok());
  }
  void Seal() { ASSERT_TRUE(store_->Seal(&log_).ok()); }
  void Commit(int64_t last = 0, int64_t now = 100) {
    const Status status = store_->Commit("abc", last, now);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  std::unique_ptr<KeptStore> store_;
  Log log_;
};

TEST_P(KeptStores, MovesAnEpochIntoTheEngineWhenItIsCommitted) {
  Put("a", "1", 5);
  Put("a", "2", 6);
  Put("b", "1", 7);
  ASSERT_TRUE(store_->Delete("b").ok());
  EXPECT_THAT(RowsOf(*store_->engine()), IsEmpty());
  Seal();
  EXPECT_THAT(log_.Lines(), ElementsAre("a=2", "b=-"));  // each key once, in order of first change
  EXPECT_THAT(RowsOf(*store_->engine()), IsEmpty());
  Commit(11, 100);
  EXPECT_EQ(RowsOf(*store_->engine()), (Rows{{"a", {"2", 6}}}));
  EXPECT_EQ(store_->engine()->checkpoint(),
            (Checkpoint{.incarnation = "abc",
                        .offset = 12,
                        .last = 11,
                        .last_hash = ChangelogHash("b", std::nullopt),
                        .written = 100}));
  EXPECT_EQ(store_->dirty_bytes(), 0u);
}

TEST_P(KeptStores, ReadsOpenThenSealedThenEngine) {
  Put("a", "engine");
  Put("b", "engine");
  Put("c", "engine");
  Seal();
  Commit();
  Put("b", "sealed");
  Put("c", "sealed");
  Seal();
  Put("c", "open");
  EXPECT_EQ(store_->Get("a")->value(), "engine");
  EXPECT_EQ(store_->Get("b")->value(), "sealed");
  EXPECT_EQ(store_->Get("c")->value(), "open");
  EXPECT_EQ(RowsOf(*store_),
            (Rows{{"a", {"engine", 0}}, {"b", {"sealed", 0}}, {"c", {"open", 0}}}));
  Commit();
  EXPECT_EQ(RowsOf(*store_->engine()),
            (Rows{{"a", {"engine", 0}}, {"b", {"sealed", 0}}, {"c", {"sealed", 0}}}));
  EXPECT_EQ(store_->Get("c")->value(), "open");
  log_.Lines();
  Seal();
  EXPECT_THAT(log_.Lines(), ElementsAre("c=open"));
}

TEST_P(KeptStores, DropGoesBackToTheEngine) {
  Put("a", "1");
  Seal();
  Commit();
  Put("a", "2");
  Put("b", "2");
  Seal();
  Put("a", "3");
  ASSERT_TRUE(store_->Clear().ok());
  store_->Drop();
  EXPECT_FALSE(store_->sealed());
  EXPECT_EQ(store_->dirty_bytes(), 0u);
  EXPECT_EQ(RowsOf(*store_), (Rows{{"a", {"1", 0}}}));
  EXPECT_EQ(store_->Get("a")->value(), "1");
  log_.Lines();
  Seal();
  EXPECT_THAT(log_.Lines(), IsEmpty());
}

TEST_P(KeptStores, ClearJournalsADeletionOfEveryKey) {
  for (const char* key : {"a", "b", "c"}) Put(key, "1");
  Seal();
  Commit();
  Put("d", "sealed");
  Seal();
  Put("e", "open");
  ASSERT_TRUE(store_->Clear().ok());
  Put("b", "after");
  EXPECT_EQ(RowsOf(*store_), (Rows{{"b", {"after", 0}}}));
  EXPECT_EQ(*store_->Get("a"), std::nullopt);
  EXPECT_EQ(*store_->Get("d"), std::nullopt);
  Commit();
  EXPECT_EQ(RowsOf(*store_), (Rows{{"b", {"after", 0}}}));
  log_.Lines();
  Seal();
  EXPECT_EQ(RowsOf(*store_), (Rows{{"b", {"after", 0}}}));
  EXPECT_EQ(log_.rows_, (Rows{{"b", {"after", 0}}}));
  Put("f", "later");
  Commit(20);
  EXPECT_EQ(RowsOf(*store_->engine()), (Rows{{"b", {"after", 0}}}));
  EXPECT_EQ(RowsOf(*store_), (Rows{{"b", {"after", 0}}, {"f", {"later", 0}}}));
  EXPECT_EQ(store_->engine()->checkpoint().last_hash, log_.last_hash_);
}

TEST_P(KeptStores, BeginsWithWhatWasLoaded) {
  const auto load = [&](std::string_view value, int64_t offset) {
    const Change change{"a", value, 1};
    ASSERT_TRUE(store_->engine()
                    ->Load({&change, 1}, {.incarnation = "abc", .offset = offset, .written = 50})
                    .ok());
  };
  load("1", 5);
  EXPECT_EQ(store_->Get("a")->value(), "1");
  store_->Drop();
  load("2", 9);
  EXPECT_EQ(RowsOf(*store_), (Rows{{"a", {"2", 1}}}));
  store_->Drop();
  load("3", 12);
  Put("b", "1");
  ASSERT_TRUE(store_->Seal(nullptr).ok());
  Commit(-1, 100);
  EXPECT_EQ(store_->engine()->checkpoint().offset, 12);
  EXPECT_EQ(RowsOf(*store_), (Rows{{"a", {"3", 1}}, {"b", {"1", 0}}}));
}

TEST_P(KeptStores, AnEpochWithoutChangesLeavesTheCheckpoint) {
  Put("a", "1");
  Seal();
  Commit(7, 100);
  const Checkpoint before = store_->engine()->checkpoint();
  Seal();
  Commit(-1, 200);
  EXPECT_EQ(store_->engine()->checkpoint(), before);
}

TEST_P(KeptStores, AStoreInUseSaysSoEachHourWithoutAChange) {
  constexpr int64_t kHour = 3'600'000;
  Put("a", "1");
  Seal();
  Commit(7, 100);
  Checkpoint expected = store_->engine()->checkpoint();
  Seal();
  Commit(-1, 100 + kHour - 1);
  EXPECT_EQ(store_->engine()->checkpoint(), expected);
  Seal();
  Commit(-1, 100 + kHour);
  expected.written = 100 + kHour;
  EXPECT_EQ(store_->engine()->checkpoint(), expected);
  Seal();
  Commit(-1, 200 + kHour);
  EXPECT_EQ(store_->engine()->checkpoint(), expected);
}

TEST_P(KeptStores, ChangesThatAreNotJournaledMoveTheTimeAlone) {
  Put("a", "1");
  Seal();
  Commit(7, 100);
  Checkpoint expected = store_->engine()->checkpoint();
  Put("a", "2");
  ASSERT_TRUE(store_->Seal(nullptr).ok());
  Commit(-1, 200);
  expected.written = 200;
  EXPECT_EQ(store_->engine()->checkpoint(), expected);
}

TEST_P(KeptStores, WhatTheChangelogRefusesIsNotSealed) {
  Put("a", "1");
  log_.fails_ = true;
  EXPECT_EQ(store_->Seal(&log_).code(), StatusCode::kCluster);
  EXPECT_FALSE(store_->sealed());
  EXPECT_EQ(store_->Get("a")->value(), "1");
}

TEST_P(KeptStores, SealsOneEpochAtATime) {
  EXPECT_EQ(store_->Commit("abc", -1, 0).code(), StatusCode::kUsage);
  Seal();
  EXPECT_EQ(store_->Seal(&log_).code(), StatusCode::kUsage);
}

TEST_P(KeptStores, RowsGetTheTimeOfTheRecordAtHand) {
  store_->SetEventTime([] { return 77; });
  ASSERT_TRUE(store_->Put("a", "1").ok());
  ASSERT_TRUE(store_->Put("b", "1", 5).ok());
  EXPECT_EQ(RowsOf(*store_), (Rows{{"a", {"1", 77}}, {"b", {"1", 5}}}));
}

TEST_P(KeptStores, AVisitorStopsWhenItHasSeenEnough) {
  for (const char* key : {"a", "c"}) Put(key, "1");
  Seal();
  Commit();
  for (const char* key : {"b", "d"}) Put(key, "2");
  for (size_t enough = 1; enough <= 4; enough++) {
    size_t seen = 0;
    ASSERT_TRUE(
        store_->All([&](std::string_view, std::string_view) { return ++seen < enough; }).ok());
    EXPECT_EQ(seen, enough);
  }
}

TEST_P(KeptStores, RefusesItsProcessorsOnceClosedAndStillCommits) {
  Put("a", "1");
  store_->Close();
  EXPECT_EQ(store_->Put("b", "1", 0).message(),
            "store 'counts' is closed: a processor may use it from Init until its Close returns");
  for (const Status& status : {store_->Delete("a"), store_->Clear(), store_->Get("a").status(),
                               store_->Prefix("", [](auto...) { return true; })}) {
    EXPECT_EQ(status.code(), StatusCode::kUsage);
  }
  Seal();
  Commit();
  EXPECT_EQ(RowsOf(*store_->engine()), (Rows{{"a", {"1", 0}}}));
}

TEST_P(KeptStores, CountsWhatIsAskedOfIt) {
  Make(std::make_shared<RowBudget>(1 << 20));
  Put("a", "1");
  Put("b", "1");
  ASSERT_TRUE(store_->Delete("b").ok());
  (void)store_->Get("a");
  (void)store_->Get("x");
  (void)store_->Get("x");  // that it is absent is remembered
  (void)RowsOf(*store_);
  Seal();
  const Meter& meter = store_->meter();
  EXPECT_EQ(meter.puts, 2u);
  EXPECT_EQ(meter.deletes, 1u);
  EXPECT_EQ(meter.gets, 3u);
  EXPECT_EQ(meter.gets_from_engine, 1u);
  EXPECT_EQ(meter.ranges, 1u);
  EXPECT_EQ(meter.range_rows, 1u);
  EXPECT_EQ(meter.journaled, 2u);
}

TEST_P(KeptStores, CachesStayWithinTheirShareOfTheBudget) {
  const auto budget = std::make_shared<RowBudget>(64 << 10);
  RowCache idle(budget), other(budget);
  EXPECT_EQ(other.share(), 64 << 10);  // its first use: the idle one takes nothing
  Make(budget);
  const std::string value(100, 'v');
  for (int i = 0; i < 2000; i++) Put(std::to_string(i), value);
  EXPECT_GT(store_->dirty_bytes(), 2000 * value.size());  // what is not safe elsewhere stays
  Seal();
  Commit();
  EXPECT_LE(store_->cached_bytes(), 32u << 10);
  EXPECT_GT(store_->cached_bytes(), 16u << 10);
  for (int i = 0; i < 2000; i++) {
    ASSERT_EQ(store_->Get(std::to_string(i))->value(), value);
    ASSERT_LE(store_->cached_bytes(), 32u << 10);
  }
}

TEST_P(KeptStores, WhatIsUsedOftenStaysInTheCache) {
  Make(std::make_shared<RowBudget>(64 << 10));
  for (int i = 0; i < 2000; i++) Put(std::to_string(i), "v");
  Seal();
  Commit();
  (void)store_->Get("7");
  const uint64_t before = store_->meter().gets_from_engine;
  for (int i = 1000; i < 2000; i++) {
    (void)store_->Get(std::to_string(i));
    (void)store_->Get("7");
  }
  // Each of the thousand misses at most once, and the one that is asked for again and again never.
  EXPECT_LE(store_->meter().gets_from_engine - before, 1000u);
}

// An engine that writes as late as it may.
class Late final : public Engine {
 public:
  explicit Late(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  Status StartWrite(std::span<const Change> changes, const Checkpoint& checkpoint,
                    bool forget) override {
    EXPECT_FALSE(late_) << "a write is under way";
    rows_.clear();
    for (const Change& change : changes) {
      std::optional<std::string> value;
      if (change.value) value = *change.value;
      rows_.push_back({std::string(change.key), std::move(value), change.timestamp});
    }
    late_ = [this, checkpoint, forget] {
      std::vector<Change> copy;
      for (const auto& [key, value, timestamp] : rows_) copy.push_back({key, value, timestamp});
      return forget ? engine_->Replace(copy, checkpoint) : engine_->Write(copy, checkpoint);
    };
    return Status::Ok();
  }
  Result<bool> EndWrite(bool wait) override {
    if (!late_) return true;
    if (!wait) return false;
    KSTREAM_RETURN_IF_ERROR(std::exchange(late_, nullptr)());
    return true;
  }

  Result<bool> Find(std::string_view key, StoredRow* row) const override {
    return engine_->Find(key, row);
  }
  std::unique_ptr<EngineIterator> NewIterator(std::string_view from,
                                              std::optional<std::string_view> to) const override {
    return engine_->NewIterator(from, to);
  }
  Checkpoint checkpoint() const override { return engine_->checkpoint(); }
  Status Write(std::span<const Change> changes, const Checkpoint& checkpoint) override {
    return engine_->Write(changes, checkpoint);
  }
  Status Replace(std::span<const Change> changes, const Checkpoint& checkpoint) override {
    return engine_->Replace(changes, checkpoint);
  }
  Status Load(std::span<const Change> changes, const Checkpoint& checkpoint) override {
    return engine_->Load(changes, checkpoint);
  }
  Status Clear() override { return engine_->Clear(); }
  Status Flush() override { return engine_->Flush(); }
  EngineStats Stats() const override { return engine_->Stats(); }
  Status Close() override { return engine_->Close(); }

 private:
  const std::unique_ptr<Engine> engine_;
  std::vector<std::tuple<std::string, std::optional<std::string>, int64_t>> rows_;
  std::function<Status()> late_;
};

// The model: three maps as the header draws them, and a changelog. Everything a processor and the
// runtime may do comes in random order, with a cache that is too small, roomy, or none, and writes
// that end at once or late.
class Trial {
 public:
  Trial(uint32_t seed, std::function<std::unique_ptr<Engine>()> open, bool is_durable)
      : random_(seed), open_(std::move(open)), is_durable_(is_durable) {
    if (seed % 3 != 0) budget_ = std::make_shared<RowBudget>(seed % 3 == 1 ? 2'000 : 1 << 20);
    if (seed % 2 != 0) {
      open_ = [open = std::move(open_)] { return std::make_unique<Late>(open()); };
    }
    store_ = std::make_unique<KeptStore>("s", open_(), budget_);
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); i++) {
      Step();
      Check();
    }
  }

 private:
  uint32_t Below(uint32_t n) { return random_() % n; }
  std::string Key() { return std::string(Below(2), '\xff') + std::to_string(Below(60)); }

  void Step() {
    const uint32_t what = Below(100);
    if (what < 45) {
      const std::string key = Key(), value(Below(60), static_cast<char>(Below(256)));
      ASSERT_TRUE(store_->Put(key, value, ++time_).ok());
      open_rows_[key] = {value, time_};
    } else if (what < 60) {
      const std::string key = Key();
      ASSERT_TRUE(store_->Delete(key).ok());
      open_rows_.erase(key);
    } else if (what < 62) {
      ASSERT_TRUE(store_->Clear().ok());
      open_rows_.clear();
    } else if (what < 80) {
      if (store_->sealed()) return;
      ASSERT_TRUE(store_->Seal(&log_).ok());
      sealed_rows_ = open_rows_;
      last_ += static_cast<int64_t>(wrote_ = log_.Lines().size());
    } else if (what < 95) {
      if (!store_->sealed()) return;
      if (!store_->committing()) {
        ASSERT_TRUE(store_->StartCommit("abc", wrote_ > 0 ? last_ : -1, time_).ok());
        if (!*store_->EndCommit(/*wait=*/false)) return;
      } else {
        ASSERT_TRUE(*store_->EndCommit(/*wait=*/true));
      }
      Committed();
      ASSERT_EQ(engine_rows_, committed_log_) << "a restore would make something else";
    } else if (what < 98) {
      Drop();
    } else if (is_durable_) {
      Drop();
      store_.reset();
      store_ = std::make_unique<KeptStore>("s", open_(), budget_);
    }
  }

  void Committed() {
    engine_rows_ = sealed_rows_;
    committed_ = last_;
    committed_log_ = log_.rows_;
  }

  void Drop() {
    if (store_->committing()) Committed();
    store_->Drop();
    open_rows_ = engine_rows_;
    last_ = committed_;
    log_.rows_ = committed_log_;
  }

  void Check() {
    StoredRow row;
    const std::string from = Key(), to = Key();
    const auto found = store_->Find(from, &row);
    ASSERT_EQ(*found, open_rows_.contains(from));
    if (*found) {
      ASSERT_EQ(std::pair(row.value, row.timestamp), open_rows_[from]);
    }
    ASSERT_EQ(store_->engine()->checkpoint().offset, committed_ + 1);
    if (Below(4) != 0) return;  // a trial may go on for long before its first range
    Rows part;
    if (from < to) part.insert(open_rows_.lower_bound(from), open_rows_.lower_bound(to));
    ASSERT_EQ(RowsOf(*store_, from, to), part);
    ASSERT_EQ(RowsOf(*store_), open_rows_);
    ASSERT_EQ(RowsOf(*store_->engine()), engine_rows_);
    Rows high;
    high.insert(open_rows_.lower_bound("\xff"), open_rows_.end());
    ASSERT_EQ(RowsOf(*store_, "\xff"), high);
  }

  std::mt19937 random_;
  std::function<std::unique_ptr<Engine>()> open_;
  const bool is_durable_;
  std::shared_ptr<RowBudget> budget_;
  std::unique_ptr<KeptStore> store_;
  Log log_;
  Rows open_rows_, sealed_rows_, engine_rows_, committed_log_;
  int64_t time_ = 0, last_ = -1, committed_ = -1;
  size_t wrote_ = 0;
};

TEST_P(KeptStores, AgreesWithAMapWhateverHappens) {
  store_.reset();
  for (uint32_t seed = 0; seed < (is_durable() ? 12u : 60u) && !HasFatalFailure(); seed++) {
    SCOPED_TRACE(seed);
    const std::string directory = folder_.path() + "/" + std::to_string(seed);
    Trial trial(
        seed,
        [&]() -> std::unique_ptr<Engine> {
          if (!is_durable()) return memory::NewEngine();
          auto engine = rocksdb::Open(directory, memory_);
          EXPECT_TRUE(engine.ok()) << engine.status().message();
          return *std::move(engine);
        },
        is_durable());
    trial.Run(800);
  }
}

INSTANTIATE_TEST_SUITE_P(Store, KeptStores, ::testing::Values(Kind::kMemory, Kind::kRocksDb),
                         NameOf);

}  // namespace
}  // namespace kstream::store
