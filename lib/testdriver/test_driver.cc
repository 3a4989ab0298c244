#include "kstream/test_driver.h"

#include <fmt/format.h>

#include <utility>

#include "admin/row_keys.h"
#include "dsl/window_key.h"
#include "testdriver/application.h"
#include "testdriver/clusters.h"
#include "testdriver/scratch.h"

namespace kstream {
namespace {

using runtime::StageTask;
using runtime::TaskId;
using testdriver::Application;
using testdriver::Clusters;

class MemoryTestDriver final : public TestDriver {
 public:
  MemoryTestDriver(Topology topology, TestDriverOptions options)
      : scratch_(options.runtime.store_type != StoreSpec::Engine::kRocksDb),
        options_(WithState(std::move(options), scratch_.path())),
        topology_(std::move(topology)),
        clock_(std::make_shared<ManualClock>(options_.start_time)) {}

  Status Start(bool to_end = false) {
    TestDriverOptions options = options_;
    if (to_end) options.runtime.exit_at_end = options.runtime.close_at_end = true;
    application_ = std::make_unique<Application>(topology_, options, clock_, &clusters_);
    KSTREAM_RETURN_IF_ERROR(application_->Open());
    return Settle();
  }

  Status Pipe(const std::string& topic, TestRecord record) override {
    KSTREAM_RETURN_IF_ERROR(clusters_.Produce(topic, record, clock_->WallMs()));
    return Settle();
  }
  Status PipeAll(const std::string& topic, std::vector<TestRecord> records) override {
    for (const TestRecord& record : records) {
      KSTREAM_RETURN_IF_ERROR(clusters_.Produce(topic, record, clock_->WallMs()));
    }
    return Settle();
  }
  void Hold() override { held_ = true; }
  Status Release() override {
    held_ = false;
    return Settle();
  }

  Status Advance(std::chrono::milliseconds by) override {
    if (by.count() < 0) return Status::Usage("time does not run backwards");
    if (by.count() > kLastTime - now()) {
      return Status::Usage(fmt::format("{} ms from {} on, the clock would pass its last time, {}",
                                       by.count(), now(), kLastTime));
    }
    clock_->Advance(by);
    return Settle();
  }
  int64_t now() const override { return clock_->WallMs(); }

  Result<std::vector<TestRecord>> Read(const std::string& topic) override {
    return clusters_.Read(topic);
  }
  Result<std::vector<TestRecord>> ReadAll(const std::string& topic) const override {
    return clusters_.ReadAll(topic);
  }

  std::vector<TestTask> tasks() const override {
    std::vector<TestTask> tasks;
    for (const auto& [id, thread] : application_->Owners()) {
      const StageTask& task = application_->TaskOf(id, thread);
      TestTask& shown = tasks.emplace_back();
      shown.name = id.ToString();
      shown.thread = thread;
      shown.stream_time = task.task().stream_time();
      for (const auto& p : task.partitions()) {
        const auto [entry, fresh] = shown.positions.emplace(p.input, p.position);
        if (!fresh) entry->second = std::min(entry->second, p.position);
      }
    }
    return tasks;
  }
  std::vector<int> threads() const override {
    std::vector<int> threads;
    for (const auto& [index, thread] : application_->threads()) threads.push_back(index);
    return threads;
  }
  Counts counts() const override {
    Counts sum = counts_before_;
    Add(application_->state(), &sum);
    return sum;
  }

  Result<std::vector<TestEntry>> Entries(const std::string& store) const override {
    KSTREAM_RETURN_IF_ERROR(CheckStore(store));
    std::vector<TestEntry> entries;
    for (const auto& [id, found] : InstancesOf(store)) {
      KSTREAM_RETURN_IF_ERROR(
          found->All([&, &id = id](std::string_view key, std::string_view value) {
            entries.push_back({id.ToString(), std::string(key), std::string(value)});
            return true;
          }));
    }
    return entries;
  }
  Result<std::vector<TestRow>> Rows(const std::string& store) const override {
    KSTREAM_RETURN_IF_ERROR(CheckStore(store));
    std::vector<TestRow> rows;
    for (const auto& [id, found] : InstancesOf(store)) {
      KSTREAM_ASSIGN_OR_RETURN(const auto first, found->Get(dsl::kWindowsKey));
      admin::RowKeys keys = first ? admin::RowKeys::Of(*first) : admin::RowKeys();
      const auto show = [&, &id = id](std::string_view key, std::string_view value, int64_t time) {
        InspectedRow row{.store = store, .key = key, .value = value, .timestamp = time};
        if (keys.Read(key, {}, &row)) {
          rows.push_back({id.ToString(), std::string(row.key), std::string(value), time,
                          row.window_start, row.window_end});
        }
        return true;
      };
      KSTREAM_RETURN_IF_ERROR(found->RangeRows("", std::nullopt, show));
    }
    return rows;
  }
  Result<std::optional<std::string>> Get(const std::string& store,
                                         const std::string& key) const override {
    KSTREAM_RETURN_IF_ERROR(CheckStore(store));
    for (const auto& [id, found] : InstancesOf(store)) {
      KSTREAM_ASSIGN_OR_RETURN(auto value, found->Get(key));
      if (value) return value;
    }
    return std::optional<std::string>();
  }
  Result<std::optional<int64_t>> Committed(const std::string& topic,
                                           int32_t partition) const override {
    KSTREAM_ASSIGN_OR_RETURN(
        const int64_t offset,
        clusters_.Committed(application_->state().options.app, topic, partition));
    return offset < 0 ? std::nullopt : std::optional(offset);
  }
  bool running() const override { return application_->running(); }
  const std::vector<TestFailure>& failures() const override { return failures_; }
  int64_t turns() const override { return turns_before_ + application_->turns(); }

  Status Crash(int thread) override { return After(application_->Crash(thread)); }
  Status Evict(int thread) override { return After(application_->Evict(thread)); }
  Status AddThread() override { return After(application_->AddThread()); }
  Status RemoveThread(int thread) override { return After(application_->Remove(thread)); }
  Status Restart(std::optional<Topology> changed) override {
    const Status closed = EndLife();
    if (changed) topology_ = *std::move(changed);
    const Status started = Start();
    return closed.ok() ? started : closed;
  }
  // A stage that another one feeds is at its end once that one has committed.
  Status EndInput() override {
    const Status closed = EndLife();
    Status ended = Start(/*to_end=*/true);
    const auto stages = static_cast<int64_t>(topology_.graph().stages.size());
    for (int64_t i = 0; ended.ok() && running() && i <= stages; ++i) {
      ended = Advance(options_.runtime.CommitInterval());
    }
    return closed.ok() ? ended : closed;
  }

  void HoldAcks() override { clusters_.HoldAcks(true); }
  Status ReleaseAcks() override {
    clusters_.HoldAcks(false);
    return Settle();
  }
  void FailDelivery(Status error, int64_t most) override { clusters_.FailDeliveries(error, most); }
  void FailCommits(Status error) override { clusters_.FailCommits(error); }
  void FailTransaction(Status error, bool committed) override {
    clusters_.home().FailTransaction(error, committed);
  }
  Status ExpireTransaction(int thread) override {
    return After(application_->ExpireTransaction(thread));
  }

  Status CreateTopic(const std::string& topic, int32_t partitions) override {
    return After(clusters_.CreateTopic(topic, partitions));
  }
  Status GrowTopic(const std::string& topic, int32_t partitions) override {
    return After(clusters_.GrowTopic(topic, partitions));
  }

 private:
  Status Settle() {
    const Status status = held_ ? application_->outcome() : application_->Settle();
    Collect();
    return status;
  }
  Status After(Status done) {
    const Status settled = Settle();
    return done.ok() ? settled : done;
  }
  Status EndLife() {
    Status closed = application_->Close();
    Collect();
    Add(application_->state(), &counts_before_);
    turns_before_ += application_->turns();
    return closed;
  }
  void Collect() {
    for (TestFailure& failure : application_->TakeFailures()) {
      failures_.push_back(std::move(failure));
    }
  }
  static void Add(const runtime::RunState& state, Counts* sum) {
    const Counts counts = state.counts();
    sum->read += counts.read;
    sum->written += counts.written;
    sum->skipped += counts.skipped;
    sum->dead_letters += counts.dead_letters;
  }

  Status CheckStore(const std::string& name) const {
    for (const TopologyStore& store : topology_.graph().stores) {
      if (store.name() == name) return Status::Ok();
    }
    return Status::Usage(fmt::format("the topology has no store '{}'", name));
  }
  std::map<TaskId, const KeyValueStore*> InstancesOf(const std::string& store) const {
    std::map<TaskId, const KeyValueStore*> instances;
    for (const auto& [id, thread] : application_->Owners()) {
      const auto* const found =
          dynamic_cast<const KeyValueStore*>(application_->TaskOf(id, thread).task().store(store));
      if (found != nullptr) instances[id] = found;
    }
    return instances;
  }

  static TestDriverOptions WithState(TestDriverOptions options, const std::string& scratch) {
    RuntimeOptions& runtime = options.runtime;
    using Engine = StoreSpec::Engine;
    if (runtime.state_dir.empty()) runtime.state_dir = scratch;
    if (runtime.store_type == Engine::kDefault) runtime.store_type = Engine::kMemory;
    return options;
  }

  const testdriver::Scratch scratch_;  // first: it goes when all that writes there has
  const TestDriverOptions options_;
  Topology topology_;
  const std::shared_ptr<ManualClock> clock_;
  Clusters clusters_;
  std::unique_ptr<Application> application_;
  bool held_ = false;
  Counts counts_before_;  // of the lives before this one
  int64_t turns_before_ = 0;
  std::vector<TestFailure> failures_;
};

}  // namespace

TestDriver::~TestDriver() = default;

Result<std::unique_ptr<TestDriver>> TestDriver::Create(Topology topology,
                                                       TestDriverOptions options) {
  if (options.start_time < 0 || options.start_time > kLastTime) {
    return Status::Usage(
        fmt::format("start_time: {} is not between 0 and {}", options.start_time, kLastTime));
  }
  auto driver = std::make_unique<MemoryTestDriver>(std::move(topology), std::move(options));
  KSTREAM_RETURN_IF_ERROR(driver->Start());
  return std::unique_ptr<TestDriver>(std::move(driver));
}

}  // namespace kstream
