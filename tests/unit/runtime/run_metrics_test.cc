// What a run says about itself, told by the run itself: every family of the table, while it
// runs and when it has ended.
#include <cmath>
#include <regex>
#include <set>
#include <sstream>

#include "metrics/snapshot.h"
#include "runtime/life_cycle.h"
#include "runtime/stream_thread.h"
#include "unit/runtime/memory_run.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

using Where = std::map<std::string, std::string>;  // labels and their values

// Has a timer that does nothing.
class Ticks final : public Processor {
 public:
  Status Init(ProcessorContext& context) override {
    return context.Schedule(seconds(1), PunctuationType::kWallClockTime).status();
  }
  Status Process(const Record&) override { return Status::Ok(); }
};

class RunMetrics : public MemoryRun {
 protected:
  RunMetrics() {
    Topics({"out"});
    options_.app = "app";
  }

  Topology Build(const std::string& keep = kKeep) const override {
    TopologyBuilder builder;
    builder.AddSource("in", source_)
        .AddProcessor("filter",
                      *Filter({.keep = *Expression::Compile(keep),
                               .negate = false,
                               .kept = {},
                               .rest = {},
                               .route = {},
                               .serdes = {}}),
                      {"in"})
        .AddProcessor("ticks", {[] { return std::make_unique<Ticks>(); }}, {"in"})
        .AddSink("out", sink_, {"filter"});
    return *builder.Build();
  }

  metrics::Snapshot Now() const {
    return state_ ? state_->registry.Take(clock_->Steady()) : last_metrics_;
  }
  static const metrics::FamilySamples& Of(const metrics::Snapshot& now, std::string_view family) {
    for (const metrics::FamilySamples& samples : now.families) {
      if (samples.family->name == family) return samples;
    }
    ADD_FAILURE() << family << " is no family";
    return now.families.front();
  }
  // The values of the family's series there; of a histogram how often it was observed.
  std::vector<double> Series(std::string_view family, const Where& where = {}) const {
    const metrics::Snapshot now = Now();
    std::vector<double> values;
    for (const metrics::Sample& sample : Of(now, family).samples) {
      const bool there = std::all_of(where.begin(), where.end(), [&](auto& label) {
        return sample.Get(label.first) == label.second;
      });
      if (!there) continue;
      values.push_back(sample.buckets.empty() ? sample.value
                                              : static_cast<double>(sample.buckets.back()));
    }
    return values;
  }
  // The states that are shown as true.
  std::vector<std::string> States(std::string_view family, const Where& where = {}) const {
    std::vector<std::string> states;
    for (const char* word : {"starting", "rebalancing", "running", "stopping", "stopped", "failed",
                             "created", "restoring", "suspended"}) {
      Where here = where;
      here["state"] = word;
      for (const double value : Series(family, here)) {
        if (value == 1) states.push_back(word);
      }
    }
    return states;
  }

  std::unique_ptr<transport::Consumer> other_;
  // Another member comes, which runs the same.
  void Join() {
    other_ = *cluster_.NewConsumer(
        {.group = "app", .instance_id = "", .threads = 1, .client_id = ClientId()});
    ASSERT_TRUE(other_->Subscribe({"in"}).ok());
  }
};

TEST_F(RunMetrics, CountsAreWhatPassed) {
  Topics({"in"});
  Produce("in", {"1", "null", "{", "2"});
  options_.on_error = OnError::kSkip;
  ASSERT_TRUE(RunSteps({[&] {
                const Where here{{"app", "app"}, {"thread", "0"}};
                EXPECT_THAT(Series("kstream_records_read_total", here), ElementsAre(4));
                EXPECT_THAT(Series("kstream_records_written_total", here), ElementsAre(2));
                EXPECT_THAT(Series("kstream_records_skipped_total", here), ElementsAre(1));
                EXPECT_EQ(state_->counts().read, 4);
                EXPECT_EQ(state_->counts().written, 2);
              }}).ok());
  EXPECT_EQ(counts_.read, 4);
  EXPECT_EQ(counts_.written, 2);
  EXPECT_EQ(counts_.skipped, 1);
  EXPECT_THAT(Series("kstream_records_read_total"), ElementsAre(4)) << "also when it has ended";
  EXPECT_THAT(Series("kstream_process_latency_seconds"), ElementsAre(1));
}

TEST_F(RunMetrics, LagFallsToNothing) {
  Topics({"in"});
  Produce("in", {"1", "2", "3"});
  const Where here{{"thread", "0"}, {"task", "0_0"}, {"topic", "in"}, {"partition", "0"}};
  ASSERT_TRUE(
      RunSteps({[&] {
                  EXPECT_THAT(Series("kstream_partition_position", here), ElementsAre(0));
                  EXPECT_THAT(Series("kstream_partition_lag_records", here), ElementsAre(3));
                  clock_->Advance(seconds(1));
                },
                [&] {
                  EXPECT_THAT(Series("kstream_partition_position", here), ElementsAre(3));
                  EXPECT_THAT(Series("kstream_partition_lag_records", here), ElementsAre(0));
                }})
          .ok());
  EXPECT_THAT(Series("kstream_partition_lag_records"), IsEmpty()) << "it goes with the task";
}

TEST_F(RunMetrics, WhatHasMovedAwayIsNotShownAndTotalsStay) {
  cluster_.CreateTopic("in", 2);
  cluster_.Produce("in", 0, {.value = "0"});
  cluster_.Produce("in", 1, {.value = "1"});
  ASSERT_TRUE(
      RunSteps(
          {[&] {
             EXPECT_THAT(Series("kstream_tasks"), ElementsAre(2));
             EXPECT_THAT(Series("kstream_partition_position").size(), 2);
             EXPECT_THAT(States("kstream_task_state", {{"task", "0_1"}}), ElementsAre("running"));
             Join();
           },
           [&] {
             EXPECT_THAT(Series("kstream_tasks"), ElementsAre(1));
             const Where gone{{"task", "0_1"}};
             EXPECT_THAT(Series("kstream_partition_position", gone), IsEmpty());
             EXPECT_THAT(Series("kstream_partition_lag_records", gone), IsEmpty());
             EXPECT_THAT(Series("kstream_buffered_records", gone), IsEmpty());
             EXPECT_THAT(Series("kstream_task_state", gone), IsEmpty());
             EXPECT_THAT(States("kstream_task_state"), ElementsAre("running"));
           }})
          .ok());
  EXPECT_THAT(Series("kstream_tasks_assigned_total"), ElementsAre(2));
  EXPECT_THAT(Series("kstream_tasks_revoked_total"), ElementsAre(1));
  EXPECT_THAT(Series("kstream_tasks_lost_total"), ElementsAre(0));
  EXPECT_THAT(Series("kstream_rebalances_total"), ElementsAre(2));
  EXPECT_EQ(counts_.read, 2);
}

TEST_F(RunMetrics, WhatIsLostIsCountedApart) {
  Topics({"in"});
  Produce("in", {"1"});
  ASSERT_TRUE(RunSteps({[&] { cluster_.Evict("app", {"in", 0}); }, [] {}}).ok());
  EXPECT_THAT(Series("kstream_tasks_lost_total"), ElementsAre(1));
  EXPECT_THAT(Series("kstream_tasks_revoked_total"), ElementsAre(0));
  EXPECT_THAT(Series("kstream_tasks_assigned_total"), ElementsAre(2));
}

TEST_F(RunMetrics, CommitsAreCountedAndTimed) {
  Topics({"in"});
  Produce("in", {"1"});
  double failed = 0;
  ASSERT_TRUE(RunSteps({[&] {
                          EXPECT_THAT(Series("kstream_commits_total"), ElementsAre(1));
                          EXPECT_THAT(Series("kstream_commit_failures_total"), ElementsAre(0));
                          cluster_.FailCommits(Status::Cluster("rebalancing"));
                          Produce("in", {"2"});
                        },
                        [&] {
                          failed = Series("kstream_commit_failures_total")[0];
                          EXPECT_GT(failed, 0);
                          cluster_.FailCommits(Status::Ok());
                        },
                        [] {}})
                  .ok());
  const double done = Series("kstream_commits_total")[0];
  EXPECT_GT(done, 1);
  EXPECT_THAT(Series("kstream_commit_latency_seconds"),
              ElementsAre(done + Series("kstream_commit_failures_total")[0]));
}

TEST_F(RunMetrics, WhatWaitsForItsTurnIsShown) {
  // Nothing is known of c, and b is far ahead of a.
  Topics({"a", "b", "c"});
  source_.inputs = {TopicNamed("a"), TopicNamed("b"), TopicNamed("c")};
  options_.max_idle = std::chrono::hours(1);
  options_.max_skew = seconds(1);
  cluster_.Produce("a", 0, {.value = "1", .timestamp = 1000});
  cluster_.Produce("b", 0, {.value = "2", .timestamp = 5'000'000});
  ASSERT_TRUE(
      RunSteps(
          {[&] { clock_->Advance(seconds(1)); },
           [&] {
             EXPECT_THAT(Series("kstream_buffered_records", {{"task", "0_0"}}), ElementsAre(2));
             EXPECT_THAT(Series("kstream_paused_partitions"), ElementsAre(1));
             EXPECT_THAT(Series("kstream_task_stream_time_seconds"), IsEmpty());
             EXPECT_THAT(Series("kstream_partition_lag_records", {{"topic", "b"}}), ElementsAre(1));
             EXPECT_THAT(Series("kstream_partition_lag_records", {{"topic", "c"}}), ElementsAre(0));
             clock_->Advance(std::chrono::hours(1));
           },
           [&] { clock_->Advance(seconds(1)); },
           [&] {
             // That of a is done, and b now waits for more of a.
             EXPECT_THAT(Series("kstream_buffered_records"), ElementsAre(1));
             EXPECT_THAT(Series("kstream_paused_partitions"), ElementsAre(0));
             EXPECT_THAT(Series("kstream_task_stream_time_seconds"), ElementsAre(1));
             EXPECT_THAT(Series("kstream_partition_lag_records"), ElementsAre(0, 1, 0));
           }})
          .ok());
}

TEST_F(RunMetrics, AThreadShowsTheStateItIsIn) {
  Topics({"in"});
  RunState state(Build(), options_);
  Prepare(&state);
  OutputFiles files;
  RunShared shared(&state, &files);
  ASSERT_TRUE(shared.Open().ok());
  StreamThread thread(&shared, 0);
  EXPECT_THAT(States("kstream_thread_state"), IsEmpty());
  ASSERT_TRUE(thread.Open().ok());
  EXPECT_THAT(States("kstream_thread_state"), ElementsAre("rebalancing"));
  for (int i = 0; i < 10 && thread.tasks().empty(); i++) ASSERT_TRUE(*thread.Turn());
  EXPECT_THAT(States("kstream_thread_state"), ElementsAre("running"));
  ASSERT_TRUE(thread.Finish(Status::Ok()).ok());
  EXPECT_THAT(States("kstream_thread_state"), ElementsAre("stopped"));
  state_ = nullptr;
}

TEST_F(RunMetrics, AThreadThatFailsShowsIt) {
  Topics({"in"});
  EXPECT_FALSE(RunSteps({[&] { cluster_.FailPolls(Status::Cluster("gone")); }}).ok());
  EXPECT_THAT(States("kstream_thread_state"), ElementsAre("failed"));
}

TEST_F(RunMetrics, ThreadsCountApart) {
  cluster_.CreateTopic("in", 2);
  cluster_.Produce("in", 0, {.value = "0"});
  cluster_.Produce("in", 1, {.value = "1"});
  options_.app.clear();
  options_.exit_at_end = true;
  options_.threads = 2;
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Series("kstream_records_read_total", {{"thread", "0"}}), ElementsAre(1));
  EXPECT_THAT(Series("kstream_records_read_total", {{"thread", "1"}}), ElementsAre(1));
  EXPECT_EQ(counts_.read, 2);
}

TEST_F(RunMetrics, TheLifeOfARunIsShown) {
  metrics::Registry registry;
  LifeCycle life(registry.NewState("kstream_runtime_state", {}));
  const auto shown = [&] {
    std::vector<std::string> states;
    const metrics::Snapshot now = registry.Take({});
    for (const metrics::Sample& sample :
         now.Of<metrics::Type::kState>("kstream_runtime_state").samples) {
      if (sample.value == 1) states.emplace_back(sample.Get("state"));
    }
    return states;
  };
  EXPECT_THAT(shown(), ElementsAre("created"));
  for (const auto& [to, name] : std::vector<std::pair<RuntimeState, const char*>>{
           {RuntimeState::kRebalancing, "rebalancing"},
           {RuntimeState::kRunning, "running"},
           {RuntimeState::kPendingError, "pending_error"},
           {RuntimeState::kError, "error"}}) {
    ASSERT_TRUE(life.Move(to));
    EXPECT_THAT(shown(), ElementsAre(name));
  }
  EXPECT_FALSE(life.Move(RuntimeState::kRunning));
  EXPECT_THAT(shown(), ElementsAre("error"));
}

// Families that show something: a counter or histogram that has counted, a level that is known.
std::set<std::string> Told(const metrics::Snapshot& now) {
  std::set<std::string> told;
  for (const metrics::FamilySamples& samples : now.families) {
    const bool counts = samples.family->type == metrics::Type::kCounter;
    const bool any = std::any_of(samples.samples.begin(), samples.samples.end(), [&](auto& sample) {
      return sample.buckets.empty() ? !counts || sample.value > 0 : sample.buckets.back() > 0;
    });
    if (any) told.emplace(samples.family->name);
  }
  return told;
}

TEST_F(RunMetrics, EveryFamilyIsSetByRuns) {
  cluster_.CreateTopic("in", 2);
  Topics({"dead"});
  std::set<std::string> told;
  const auto look = [&] { told.merge(Told(Now())); };
  Produce("in", {"1", "{"});
  options_.on_error = OnError::kSkip;
  ASSERT_TRUE(RunSteps({[&] {
                          cluster_.FailCommits(Status::Cluster("rebalancing"));
                          Produce("in", {"2"});
                          clock_->Advance(seconds(1));
                        },
                        [&] {
                          look();
                          cluster_.FailCommits(Status::Ok());
                          Join();
                        },
                        look, look})
                  .ok());
  look();
  other_.reset();
  Produce("in", {"{"});
  options_.on_error = OnError::kDeadLetter;
  options_.dead_letter = TopicNamed("dead");
  ASSERT_TRUE(RunSteps({[&] { cluster_.Evict("app", {"in", 0}); }, [] {}}).ok());
  look();

  // Of the whole run: TheLifeOfARunIsShown. Of stores: HowFarARestoreIsCanBeSeen. Of those that
  // stand by: standbys_test.cc.
  const std::set<std::string> elsewhere{
      "kstream_runtime_state", "kstream_restore_records_total", "kstream_restore_remaining_records",
      "kstream_standby_records_total", "kstream_standby_lag_records"};
  for (const metrics::Family& family : metrics::kFamilies) {
    const std::string name(family.name);
    EXPECT_EQ(told.contains(name), !elsewhere.contains(name)) << name;
  }
}

TEST_F(RunMetrics, HowFarARestoreIsCanBeSeen) {
  Topics({"in"});
  options_.store_type = StoreSpec::Engine::kMemory;  // nothing is left of it after a run
  options_.state_dir = testing::TempDir() + "run_metrics_restore";
  TopologyBuilder builder;
  builder.AddSource("in", source_)
      .AddProcessor("agg", *Aggregate({.functions = {{}}, .store = "rows"}), {"in"})
      .AddStore(StoreSpec{.name = "rows"}, {"agg"});
  const Topology counts = *builder.Build();
  for (const char* key : {"a", "b", "c"}) cluster_.Produce("in", 0, {.key = key, .value = "1"});
  ASSERT_TRUE(RunSteps(counts, {[] {}}).ok());

  const Where store{{"thread", "0"}, {"task", "0_0"}, {"store", "rows"}};
  const Where task{{"thread", "0"}, {"task", "0_0"}};
  cluster_.LimitPolls(2);
  cluster_.Hide([](const transport::TopicPartition& partition) {
    return partition.topic == "app-rows-changelog";
  });
  ASSERT_TRUE(
      RunSteps(counts,
               {[&] {
                  EXPECT_THAT(States("kstream_task_state", task), ElementsAre("restoring"));
                  EXPECT_THAT(Series("kstream_restore_remaining_records", store), ElementsAre(3));
                  EXPECT_THAT(Series("kstream_restore_records_total", store), ElementsAre(0));
                  cluster_.Hide(nullptr);
                },
                [&] {
                  EXPECT_THAT(States("kstream_task_state", task), ElementsAre("running"));
                  EXPECT_THAT(Series("kstream_restore_remaining_records", store), ElementsAre(0));
                  EXPECT_THAT(Series("kstream_restore_records_total", store), ElementsAre(3));
                }})
          .ok());
}

TEST_F(RunMetrics, TheExpositionOfARunCanBeRead) {
  Topics({"in"});
  Produce("in", {"1"});
  std::string text;
  ASSERT_TRUE(RunSteps({[&] { text = metrics::RenderPrometheus(Now()); }}).ok());
  const std::regex help("# HELP (kstream_[a-z_]+) .+"), type("# TYPE (kstream_[a-z_]+) [a-z]+");
  const std::regex sample(
      R"re((kstream_[a-z_]+)\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\} -?[0-9][0-9.e+-]*)re");
  std::istringstream lines(text);
  std::set<std::string> samples;
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, help)) {
      family = match[1];
    } else if (std::regex_match(line, match, type)) {
      EXPECT_EQ(match[1], family) << line;
    } else {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_EQ(match[1].str().find(family), 0u) << line;
      EXPECT_TRUE(samples.insert(line.substr(0, line.rfind(' '))).second) << "twice: " << line;
    }
  }
  EXPECT_GT(samples.size(), 50u);
}

}  // namespace
}  // namespace kstream::runtime
