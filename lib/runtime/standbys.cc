#include "runtime/standbys.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/stopped.h"
#include "runtime/inside.h"
#include "runtime/standby_choice.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using transport::TopicPartition;

// How long one turn of the thread waits for records, and so a stop for it.
constexpr milliseconds kWait{100};
constexpr milliseconds kBetweenLooks{10'000};
// After a rebalance, and while it goes on: the broker tells who runs what once all is settled.
constexpr milliseconds kSoon{500};
constexpr milliseconds kBetweenTries{30'000};
constexpr milliseconds kBetweenShows{1000};
// A store that looks as if nobody had used it for days is made anew: see WhyAnew.
constexpr int64_t kYoungMs = 3'600'000;

}  // namespace

Standbys::Standbys(RunShared* shared)
    : shared_(shared), next_show_(Now()), reads_(shared), next_look_(Now()) {}

Standbys::~Standbys() { Stop(); }

void Standbys::Start() {
  thread_ = std::thread([this] {
    const Inside inside(shared_->state);
    while (!is_stopping()) Turn(kWait);
  });
}

void Standbys::Stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  CloseAll();
}

bool Standbys::is_stopping() const {
  const std::lock_guard lock(mutex_);
  return is_stopping_;
}

std::set<TaskId> Standbys::tasks() const {
  const std::lock_guard lock(mutex_);
  std::set<TaskId> tasks;
  for (const auto& [id, warm] : warm_) tasks.insert(id);
  return tasks;
}

// --- threads that run tasks ---

Result<std::unique_ptr<TaskStores>> Standbys::Take(TaskId id) {
  std::unique_ptr<TaskStores> stores;
  {
    std::unique_lock lock(mutex_);
    claimed_.insert(id);
    changed_.wait(lock, [&] { return busy_ != id; });
    reads_.Remove(id);
    if (auto warm = warm_.extract(id)) stores = std::move(warm.mapped().stores);
  }
  std::shared_ptr<void> claim(nullptr, [this, id](void*) { Release(id); });
  if (stores) {
    if (const Status shown = stores->EndLoad(); !shown.ok()) {
      Log(LogLevel::kWarning, shown.At("task " + id.ToString() + " was kept warm").message());
      stores.reset();
    }
  }
  if (!stores) {
    KSTREAM_ASSIGN_OR_RETURN(stores, TaskStores::Open(shared_, id));
  }
  if (stores) stores->Hold(std::move(claim));
  return stores;
}

void Standbys::Release(TaskId id) {
  {
    const std::lock_guard lock(mutex_);
    claimed_.erase(claimed_.find(id));
  }
  LookBy(Now() + kSoon);
}

void Standbys::Rebalanced() { LookBy(Now() + kSoon); }

void Standbys::LookBy(Clock::Instant when) {
  const std::lock_guard lock(mutex_);
  next_look_ = std::min(next_look_, when);
}

// --- the thread that follows ---

void Standbys::Turn(milliseconds wait) {
  const Status status = Step(wait);
  if (status.ok()) return;
  CloseAll();
  if (IsStopped(status)) return Pause(wait);
  Log(LogLevel::kWarning, fmt::format("no task is kept warm for the moment: {}", status.message()));
}

Status Standbys::Step(milliseconds wait) {
  bool look = false;
  {
    const std::lock_guard lock(mutex_);
    look = Now() >= next_look_;
    if (look) next_look_ = Now() + kBetweenLooks;
  }
  if (look) KSTREAM_RETURN_IF_ERROR(Look());
  return Read(wait);
}

Status Standbys::Look() {
  const RunState& state = *shared_->state;
  if (!admin_) {
    KSTREAM_ASSIGN_OR_RETURN(admin_, state.clusters.at("")->NewAdmin());
  }
  const auto group = admin_->DescribeGroup(state.options.app);
  if (IsStopped(group.status())) return group.status();
  if (!group.ok()) {
    const LogLevel level = std::exchange(has_warned_, true) ? LogLevel::kDebug : LogLevel::kWarning;
    Log(level, fmt::format("whom to stand by for is not known: {}", group.status().message()));
    return Status::Ok();
  }
  has_warned_ = false;
  const LiveInstances live = LiveInstances::Of(*group);
  const std::string self = InstanceName(shared_->tag, shared_->instance_id());
  if (group->state != "Stable" || !live.names.contains(self)) {
    LookBy(Now() + kSoon);
    return Status::Ok();
  }
  const std::shared_ptr<const RunPlan> plan = shared_->planner.plan();
  std::set<TaskId> journaled;
  for (const TaskId id : plan->Tasks()) {
    if (!TaskStores::ChangelogsOf(state, id).empty()) journaled.insert(id);
  }
  return Follow(TasksToFollow(live, *plan, journaled, tasks(), self, state.options.standby));
}

Status Standbys::Follow(const std::set<TaskId>& chosen) {
  std::set<TaskId> open = tasks();
  for (const TaskId id : open) {
    if (!chosen.contains(id)) Close(id);
  }
  std::erase_if(put_off_, [now = Now()](const auto& task) { return task.second <= now; });
  std::vector<TaskId> fresh;
  std::vector<TopicPartition> names;
  for (const TaskId id : chosen) {
    if (open.contains(id) || put_off_.contains(id)) continue;
    fresh.push_back(id);
    for (auto& name : TaskStores::ChangelogsOf(*shared_->state, id)) {
      names.push_back(std::move(name));
    }
  }
  if (fresh.empty()) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const Logs logs, admin_->Offsets(names));
  for (const TaskId id : fresh) {
    if (is_stopping()) return Status::Ok();
    if (const Status opened = Open(id, logs); !opened.ok()) GiveUp(id, opened);
  }
  return Status::Ok();
}

// False: a thread has the task, or a stop has come.
bool Standbys::MakeBusy(TaskId id) {
  const std::lock_guard lock(mutex_);
  if (claimed_.contains(id)) return false;
  busy_ = id;
  return true;
}

void Standbys::EndBusy() {
  {
    const std::lock_guard lock(mutex_);
    busy_.reset();
  }
  changed_.notify_all();
}

Status Standbys::Open(TaskId id, const Logs& logs) {
  if (!MakeBusy(id)) return Status::Ok();
  Warm warm;
  const Result<Reads> reads = Begin(id, logs, &warm);
  if (reads.ok()) {
    const std::lock_guard lock(mutex_);
    for (const ChangelogReads::Read& read : *reads) reads_.Add(read);
    warm_.emplace(id, std::move(warm));
  } else {
    warm = {};  // before somebody else opens them
  }
  EndBusy();
  return reads.status();
}

Result<Standbys::Reads> Standbys::Begin(TaskId id, const Logs& logs, Warm* warm) const {
  KSTREAM_ASSIGN_OR_RETURN(warm->stores, TaskStores::Open(shared_, id));
  warm->stores->ShowStandby(id, true);
  metrics::Registry* const registry = &shared_->state->registry;
  const std::string task = id.ToString();
  metrics::Labels labels{.task = task};
  warm->state = registry->NewState("kstream_task_state", labels);
  warm->state.Set("standby");
  Reads reads;
  for (TaskStores::Store& store : warm->stores->stores()) {
    if (!store.changelog) continue;
    labels.store = store.kept->name();
    store.loaded = registry->NewCounter("kstream_standby_records_total", labels);
    store.lag = registry->NewGauge("kstream_standby_lag_records", labels);
    KSTREAM_ASSIGN_OR_RETURN(
        ChangelogReads::Read read,
        reads_.Begin(id, &store, logs.at(*store.changelog), shared_->planner.plan()->incarnation));
    Log(LogLevel::kInfo, fmt::format("task {} stands by here: store {} from offset {} of {}", task,
                                     store.kept->name(), read.position, read.end));
    read.end = ChangelogReads::kNoEnd;
    reads.push_back(std::move(read));
  }
  return reads;
}

Status Standbys::Read(milliseconds wait) {
  ChangelogReads::Moves moves;
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    moves = reads_.TakeMoves();
    idle = reads_.reads().empty();
  }
  if (idle) {
    batch_.reset();
    consumer_.reset();
    Pause(wait);
    return Status::Ok();
  }
  if (!consumer_) {
    moves.leave.clear();
    KSTREAM_ASSIGN_OR_RETURN(consumer_, ChangelogReads::NewConsumer(shared_));
    batch_ = consumer_->NewBatch();
  }
  KSTREAM_RETURN_IF_ERROR(moves.Make(consumer_.get()));
  KSTREAM_RETURN_IF_ERROR(consumer_->Poll(wait, batch_.get()));
  for (const auto& [id, why] : TakeBatch()) GiveUp(id, why);
  return Status::Ok();
}

std::map<TaskId, Status> Standbys::TakeBatch() {
  const std::lock_guard lock(mutex_);
  std::map<TaskId, Status> failed = reads_.Take(*batch_);
  const auto settle = [&](ChangelogReads::Read& read, Status status) {
    if (!status.ok()) failed.emplace(read.task, std::move(status));
  };
  for (const transport::PartitionOffset& end : batch_->ends) {
    const auto found = reads_.reads().find(end.partition);
    if (found == reads_.reads().end()) continue;
    // What was loaded is written: a thread finds it so, and a crash leaves a short tail.
    settle(found->second, found->second.store->kept->engine()->EndLoad());
  }
  if (!batch_->ends.empty()) TellWarm();
  if (Now() < next_show_) return failed;
  next_show_ = Now() + kBetweenShows;
  for (auto& [name, read] : reads_.reads()) {
    const auto high = consumer_->HighWatermark(name);
    if (!high) continue;
    read.store->lag.Set(static_cast<double>(std::max<int64_t>(0, *high - read.position)));
    if (*high <= read.position) settle(read, KeepYoung(read));
  }
  return failed;
}

// Says of a store whose changelog is silent that it is followed all the same.
Status Standbys::KeepYoung(const ChangelogReads::Read& read) {
  store::Engine* const engine = read.store->kept->engine();
  const int64_t now = shared_->state->clock->WallMs();
  KSTREAM_RETURN_IF_ERROR(engine->EndLoad());
  store::Checkpoint at = engine->checkpoint();
  if (at.incarnation.empty() || now - at.written < kYoungMs) return Status::Ok();
  at.offset = std::max(at.offset, read.position);
  at.written = now;
  KSTREAM_RETURN_IF_ERROR(engine->Load({}, at));
  return engine->EndLoad();
}

void Standbys::TellWarm() {
  std::map<TaskId, int64_t> records;
  std::set<TaskId> behind;
  for (const auto& [name, read] : reads_.reads()) {
    records[read.task] += read.records;
    if (!read.reached) behind.insert(read.task);
  }
  for (auto& [id, warm] : warm_) {
    if (behind.contains(id) || std::exchange(warm.is_told, true)) continue;
    Log(LogLevel::kInfo,
        fmt::format("task {} is warm: {} changelog records read", id.ToString(), records[id]));
  }
}

void Standbys::GiveUp(TaskId id, const Status& why) {
  Close(id);
  put_off_[id] = Now() + kBetweenTries;
  Log(LogLevel::kWarning, fmt::format("task {} is not kept warm: {}: tried again in {} s",
                                      id.ToString(), why.message(), kBetweenTries.count() / 1000));
}

void Standbys::Close(TaskId id) {
  if (!MakeBusy(id)) return;
  std::unique_ptr<TaskStores> stores;
  {
    const std::lock_guard lock(mutex_);
    reads_.Remove(id);
    if (auto warm = warm_.extract(id)) stores = std::move(warm.mapped().stores);
  }
  if (stores) {
    if (const Status closed = stores->Close(); !closed.ok()) {
      Log(LogLevel::kWarning, closed.message());
    }
    stores.reset();
  }
  EndBusy();
}

void Standbys::CloseAll() {
  for (const TaskId id : tasks()) Close(id);
  batch_.reset();
  consumer_.reset();
  const std::lock_guard lock(mutex_);
  static_cast<void>(reads_.TakeMoves());
}

// Until there may be something to do.
void Standbys::Pause(milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [this] { return is_stopping_; });
}

}  // namespace kstream::runtime
