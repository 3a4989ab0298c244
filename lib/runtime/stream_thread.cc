#include "runtime/stream_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "record/json_document.h"
#include "runtime/pace.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using transport::PartitionOffset;
using transport::TopicPartition;

constexpr milliseconds kPollWait{50};
constexpr milliseconds kSharedPollWait{5};  // with several consumers in turn
// What one turn should take at most.
constexpr milliseconds kTurn{500};
// The first batch: how long a record takes is not known yet.
constexpr size_t kFirstRecords = 16;
// message.timeout.ms of the producers ends every wait before this.
constexpr milliseconds kFlushLimit{60'000};
// A queue that holds so much while others hold the task stops being fetched. As a pause throws away
// what has been prefetched, it goes on only when there is room again.
constexpr size_t kPauseAbove = 100'000, kResumeBelow = 25'000;  // records of a partition
constexpr size_t kMostBytes = 256 << 20;  // of what a thread queues; each task has its share,
constexpr size_t kLeastShare = 1 << 20;   // but this at least
constexpr size_t kPerRecord = 256;        // bytes that a queued record takes beside its own

}  // namespace

StreamThread::StreamThread(RunShared* shared, int index)
    : shared_(shared),
      state_(shared->state),
      index_(index),
      metrics_(state_->MetricsOf(index)),
      outputs_(shared->state, shared->files),
      restorer_(shared, index),
      most_(kFirstRecords),
      seen_(shared->state->clock->Steady()) {
  cache_.reader = &json_reader_;
}

StreamThread::~StreamThread() = default;

Status StreamThread::Run() {
  Status status = Open();
  while (status.ok()) {
    const Result<bool> more = Turn();
    status = more.status();
    if (status.ok() && !*more) break;
  }
  // What failed after we stood still may have failed for that.
  if (!status.ok() && !stood_still_) {
    if (Status awake = Awake(); !awake.ok()) status = std::move(awake);
  }
  return Finish(std::move(status));
}

Status StreamThread::Open() {
  SetState(ThreadState::kStarting);
  plan_ = shared_->planner.plan();
  KSTREAM_RETURN_IF_ERROR(outputs_.Open());
  KSTREAM_RETURN_IF_ERROR(MakeIngests());
  bad_records_ =
      std::make_unique<task::BadRecords>(state_->policy(), &state_->bad, outputs_.dead_letters());
  KSTREAM_RETURN_IF_ERROR(OpenReaders());
  const bool commits = state_->grouped() && !state_->options.dry_run;
  committer_ = std::make_unique<Committer>(
      &outputs_, commits ? home()->consumer() : nullptr, state_->options.CommitInterval(),
      static_cast<CommitHost*>(this), *state_->clock, &metrics_->commits);
  if (state_->grouped()) {
    SetState(ThreadState::kRebalancing);
    return Status::Ok();
  }
  agreed_ = true;
  KSTREAM_RETURN_IF_ERROR(AdoptOwn());
  SetState(ThreadState::kRunning);
  return Status::Ok();
}

Status StreamThread::MakeIngests() {
  for (const TopologyStage& stage : state_->graph().stages) {
    auto& ingests = ingests_.emplace_back();
    for (const size_t source : stage.sources) {
      KSTREAM_ASSIGN_OR_RETURN(
          auto ingest, task::Ingest::Create(state_->graph().nodes[source].source, state_->serdes,
                                            state_->clock.get()));
      ingests.push_back(std::move(ingest));
    }
  }
  return Status::Ok();
}

Status StreamThread::OpenReaders() {
  const RuntimeOptions& options = state_->options;
  std::vector<std::string> clusters;
  if (state_->grouped()) clusters.push_back("");  // the member, whatever it reads
  for (const Location& input : state_->Inputs()) {
    std::string cluster = input.is_topic() ? input.cluster : std::string(kFiles);
    if (std::find(clusters.begin(), clusters.end(), cluster) == clusters.end())
      clusters.push_back(std::move(cluster));
  }
  std::set<std::string> leads;
  for (const StagePlan& stage : plan_->stages) leads.insert(stage.lead.topic);
  for (const std::string& cluster : clusters) {
    transport::ConsumerOptions consumer;
    consumer.threads = options.threads;
    if (cluster.empty() && state_->grouped()) {
      consumer.group = options.app;
      MemberTag tag = shared_->tag;
      tag.thread = index_;
      consumer.client_id = tag.ToClientId();
      if (const std::string id = shared_->instance_id(); !id.empty())
        consumer.instance_id = fmt::format("{}-{}", id, index_);
    }
    KSTREAM_ASSIGN_OR_RETURN(auto opened, state_->clusters.at(cluster)->NewConsumer(consumer));
    readers_.push_back(std::make_unique<Reader>(cluster, std::move(opened)));
  }
  if (!state_->grouped()) return Status::Ok();
  return home()->consumer()->Subscribe({leads.begin(), leads.end()});
}

Reader* StreamThread::ReaderOf(std::string_view cluster) {
  const auto found = std::find_if(readers_.begin(), readers_.end(),
                                  [&](auto& reader) { return reader->cluster() == cluster; });
  return found == readers_.end() ? nullptr : found->get();
}

// A long time between two looks alone says nothing: a record may take as long as it likes.
Status StreamThread::Awake() {
  const Clock::Instant now = state_->clock->Steady();
  const Clock::Instant before = std::exchange(seen_, now);
  if (now - before <= shared_->session || !shared_->stood_still(before)) return Status::Ok();
  stood_still_ = true;
  return {
      StatusCode::kFenced,
      fmt::format("thread {} stood still for {} s, longer than its session: its tasks have "
                  "moved, it joins again",
                  index_, std::chrono::duration_cast<std::chrono::seconds>(now - before).count())};
}

Result<bool> StreamThread::Turn() {
  KSTREAM_RETURN_IF_ERROR(Awake());
  if (Over()) return false;
  KSTREAM_ASSIGN_OR_RETURN(const bool ended, AtEnd());
  if (ended) return false;
  for (auto& reader : readers_) {
    if (reader->cluster() == kInProcess) continue;
    KSTREAM_RETURN_IF_ERROR(Read(reader.get(), WaitOf(readers_.size())));
    if (reader.get() == home() && state_->grouped()) KSTREAM_RETURN_IF_ERROR(Rebalance());
  }
  KSTREAM_RETURN_IF_ERROR(Restore());
  KSTREAM_RETURN_IF_ERROR(DrainTasks());
  KSTREAM_RETURN_IF_ERROR(Settle());
  KSTREAM_RETURN_IF_ERROR(Punctuate());
  KSTREAM_RETURN_IF_ERROR(LookAgain(false));
  KSTREAM_RETURN_IF_ERROR(Awake());
  KSTREAM_RETURN_IF_ERROR(outputs_.FlushFiles());
  outputs_.Poll();
  RelieveStores();
  KSTREAM_RETURN_IF_ERROR(committer_->Turn());
  KSTREAM_RETURN_IF_ERROR(Purge());
  Count();
  ShowLevels();
  return true;
}

Status StreamThread::Finish(Status outcome) {
  SetState(ThreadState::kStopping);
  // Another may take its place; one that has come to its end goes on counting.
  if (at_end_ && (!outcome.ok() || stood_still_)) shared_->at_end--;
  if (committer_ && !shared_->files->closed() && outcome.code() != StatusCode::kFenced) {
    // What was done before a failure is kept, all the same.
    Status finished = committer_->Finish();
    // No failure of ours: whoever has the tasks now reads again what this commit would have saved.
    if (finished.code() == StatusCode::kFenced || (!finished.ok() && !Awake().ok())) {
      Log(LogLevel::kWarning,
          fmt::format("{}; what is not committed is read again by others", finished.message()));
      finished = Status::Ok();
    }
    if (outcome.ok()) outcome = std::move(finished);
  }
  for (auto& [id, task] : tasks_) {
    for (auto& reader : readers_) static_cast<void>(reader->Remove(task.get()));
    metrics_->punctuations.Add(task->TakePunctuations());
    if (Status closed = task->Close(); outcome.ok()) outcome = std::move(closed);
    if (Status closed = CloseStores(id); outcome.ok()) outcome = std::move(closed);
  }
  for (auto& [id, restoring] : restoring_) {
    if (Status closed = restoring.stores->Close(); outcome.ok()) outcome = std::move(closed);
  }
  restoring_.clear();
  if (stood_still_) {
    outputs_.Drop();
    metrics_->lost.Add(static_cast<int64_t>(tasks_.size()));
    for (const auto& [id, task] : tasks_) changes_ += " -" + id.ToString();
  }
  tasks_.clear();
  if (stood_still_) Tell(" (lost)");
  for (auto& reader : readers_) {
    if (Status closed = reader->consumer()->Close(); outcome.ok()) outcome = std::move(closed);
  }
  readers_.clear();
  Count();
  SetState(outcome.ok() ? ThreadState::kStopped : ThreadState::kFailed);
  return outcome;
}

bool StreamThread::Over() {
  return state_->stopping() || state_->limit_reached() || shared_->files->closed();
}

Result<bool> StreamThread::AtEnd() {
  KSTREAM_ASSIGN_OR_RETURN(const bool done, AllDone());
  if (!state_->grouped() || state_->options.instance_id.empty()) return done;
  const bool at_end = done && joined_;
  if (at_end != std::exchange(at_end_, at_end)) shared_->at_end += at_end ? 1 : -1;
  return shared_->at_end == shared_->threads;
}

// Whether nothing is left to do here, in a run that has an end.
Result<bool> StreamThread::AllDone() {
  const bool files = std::all_of(readers_.begin(), readers_.end(), [](auto& reader) {
    return reader->cluster() == kFiles || reader->cluster() == kInProcess;
  });
  if (!files && !state_->has_end()) return false;
  KSTREAM_RETURN_IF_ERROR(shared_->ends.Update(*plan_, home()->consumer()));
  if (const int version = shared_->ends.version(); std::exchange(ends_seen_, version) != version) {
    for (auto& [id, task] : tasks_) {
      for (size_t i = 0; i < task->partitions().size(); i++) {
        if (const auto end = shared_->ends.Of(*plan_, task->partitions()[i].input)) {
          task->SetEnd(i, *end);
        }
      }
    }
  }
  bool all_done = restoring_.empty();
  for (auto& [id, task] : tasks_) {
    if (!task->done()) {
      all_done = false;
    } else if (completed_.insert(id).second) {
      KSTREAM_RETURN_IF_ERROR(Complete(id));
    }
  }
  if (!all_done) return false;
  if (!state_->grouped() || (!tasks_.empty() && waiting_.empty())) return true;
  // A member without tasks waits for those that have them: their work may still come.
  for (size_t i = 0; i < plan_->stages.size(); i++) {
    if (!shared_->ends.IsComplete(*plan_, i, home()->consumer())) return false;
  }
  return true;
}

// Those who wait for the end of a task hear of it: by a commit, in a group.
Status StreamThread::Complete(TaskId id) {
  if (state_->grouped()) {
    committer_->Request();
    return Status::Ok();
  }
  StageTask* const task = tasks_.at(id).get();
  KSTREAM_RETURN_IF_ERROR(task->EndInput());
  KSTREAM_RETURN_IF_ERROR(task->Flush());
  KSTREAM_RETURN_IF_ERROR(outputs_.FlushTopics(kFlushLimit));
  shared_->ends.Completed(id);
  return Status::Ok();
}

milliseconds StreamThread::WaitOf(size_t readers) const {
  if (more_ || !restoring_.empty()) return milliseconds(0);
  milliseconds wait = readers > 1 ? kSharedPollWait : kPollWait;
  int64_t next = INT64_MAX;
  for (const auto& [id, task] : tasks_) next = std::min(next, task->next_punctuation());
  if (next != INT64_MAX) {
    wait = std::clamp(milliseconds(next - state_->clock->WallMs()), milliseconds(0), wait);
  }
  return wait;
}

Status StreamThread::Read(Reader* reader, milliseconds wait) {
  // What a task is given must not depend on what its thread has had before.
  KSTREAM_RETURN_IF_ERROR(reader->Poll(wait, let_ ? SIZE_MAX : most_));
  KSTREAM_RETURN_IF_ERROR(Awake());
  const size_t records = reader->batch().records.size();
  metrics_->poll_records.Observe(static_cast<double>(records));
  metrics_->read.Add(static_cast<int64_t>(records));
  const Clock::Instant begin = state_->clock->Steady();
  KSTREAM_RETURN_IF_ERROR(TakeRecords(reader));
  if (state_->limit_reached()) return Status::Ok();  // the rest of the batch is not done
  KSTREAM_RETURN_IF_ERROR(TakeEnds(reader));
  // So many as would have taken as long as a turn should; the transport has a limit of its own.
  const auto took = state_->clock->Steady() - begin;
  if (records > 0) busy_ = busy_.value_or(std::chrono::nanoseconds(0)) + took;
  if (took > kTurn) {
    most_ = std::max<size_t>(1, records * kTurn / took);
  } else if (most_ != SIZE_MAX && records >= most_ && took < kTurn / 2) {
    most_ = most_ > SIZE_MAX / 2 ? SIZE_MAX : most_ * 2;
  }
  return Status::Ok();
}

Status StreamThread::TakeRecords(Reader* reader) {
  transport::Batch& batch = reader->batch();
  auto bad = batch.bad.begin();
  const bool settles = reader->cluster() == kFiles && readers_.size() > 1;
  Pace pace(*state_->clock);
  Clock::Instant alive = pace.now();
  for (size_t i = 0; i < batch.records.size(); i++) {
    Record& record = batch.records[i];
    StageTask::Arrival arrival{.offset = record.offset};
    const Reader::Takers* takers = nullptr;
    if (batch.origins.empty()) {
      takers = reader->TakersOf(record);
    } else {
      takers = reader->TakersOf(batch.origins[i].partition);
      arrival.offset = batch.origins[i].offset;
      arrival.source = batch.origins[i].source;
      if (!batch.as_read.empty()) arrival.read = &batch.as_read[i];
    }
    if (bad != batch.bad.end() && bad->index == i) arrival.bad = &bad++->why;
    if (takers == nullptr) continue;
    for (const Reader::Taker& taker : *takers) {
      KSTREAM_RETURN_IF_ERROR(taker.task->Add(taker.partition, record, arrival, reader->owned()));
    }
    if (state_->options.limit && state_->limit_reached()) return Status::Ok();
    // What one record of a file leads to is done before the next, whatever came with it in one
    // batch: so a run on files is the same every time.
    if (settles) KSTREAM_RETURN_IF_ERROR(Settle());
    if (!pace.Step()) continue;
    KSTREAM_RETURN_IF_ERROR(Awake());
    if (seen_ - alive < kTurn) continue;
    alive = seen_;
    home()->consumer()->KeepAlive();
    outputs_.Poll();
  }
  return Status::Ok();
}

Status StreamThread::TakeEnds(Reader* reader) {
  transport::Batch& batch = reader->batch();
  for (const PartitionOffset& end : batch.ends) {
    const Reader::Takers* const takers = reader->TakersOf(end.partition);
    if (takers == nullptr) continue;
    for (const Reader::Taker& taker : *takers) {
      taker.task->AtEnd(taker.partition, end.offset);
      const TaskPartition& p = taker.task->partitions()[taker.partition];
      if (p.end && end.offset < *p.end) {
        Log(LogLevel::kInfo,
            fmt::format("{}[{}]: waiting at offset {} for an open transaction to end",
                        end.partition.topic, end.partition.partition, end.offset));
      }
    }
  }
  for (const TopicPartition& finished : batch.finished) {
    const Reader::Takers* const takers = reader->TakersOf(finished);
    if (takers == nullptr) continue;
    for (const Reader::Taker& taker : *takers) taker.task->Finish(taker.partition);
  }
  return Status::Ok();
}

// Processes what is in the topics of this process, until there is nothing: no more is read before,
// so they stay short. Other threads may fill them all the while: then a turn of it is enough.
Status StreamThread::Settle() {
  Reader* const reader = ReaderOf(kInProcess);
  if (reader == nullptr) return Status::Ok();
  const Clock::Instant until = state_->clock->Steady() + kTurn;
  do {
    outputs_.Poll(reader->cluster());
    KSTREAM_RETURN_IF_ERROR(reader->Poll(milliseconds(0), SIZE_MAX));
    KSTREAM_RETURN_IF_ERROR(TakeRecords(reader));
    if (state_->limit_reached()) return Status::Ok();
    KSTREAM_RETURN_IF_ERROR(TakeEnds(reader));
    KSTREAM_RETURN_IF_ERROR(DrainTasks());
  } while ((more_ || !reader->batch().records.empty()) && !Over() &&
           (shared_->threads == 1 || state_->clock->Steady() < until));
  return Status::Ok();
}

Status StreamThread::DrainTasks() {
  const Clock::Instant begin = state_->clock->Steady();
  const auto merging = static_cast<size_t>(std::count_if(
      tasks_.begin(), tasks_.end(), [](auto& entry) { return entry.second->merges(); }));
  more_ = false;
  if (merging == 0 || stores_full_) return PauseAndResume(std::max<size_t>(1, merging));
  // Each has its share of the turn, so that a backlog of one does not starve the others.
  for (auto& [id, task] : tasks_) {
    if (!task->merges() || (let_ && !let_(id))) continue;
    KSTREAM_ASSIGN_OR_RETURN(const bool more, task->Drain(state_->clock->Steady() +
                                                          kTurn / static_cast<int64_t>(merging)));
    more_ |= more;
  }
  if (busy_) *busy_ += state_->clock->Steady() - begin;
  return PauseAndResume(merging);
}

Status StreamThread::Punctuate() {
  const int64_t now = state_->clock->WallMs();
  for (auto& [id, task] : tasks_) {
    if (let_ && !let_(id)) continue;
    if (task->next_punctuation() <= now) KSTREAM_RETURN_IF_ERROR(task->Punctuate());
  }
  return Status::Ok();
}

Status StreamThread::PauseAndResume(size_t merging) {
  const size_t share = std::max(kMostBytes / merging, kLeastShare);
  for (auto& reader : readers_) {
    // Files wait by not being read: what is queued of them is what was merged.
    const bool is_file = reader->cluster() == kFiles;
    KSTREAM_RETURN_IF_ERROR(reader->PauseAndResume([&](const Reader::Taker& taker) {
      if (stores_full_) return Reader::Wish::kPause;
      if (is_file) return Reader::Wish::kResume;
      const TaskPartition& p = taker.task->partitions()[taker.partition];
      const task::RecordQueues& queues = taker.task->queues();
      const size_t queued = queues.Size(taker.partition);
      // Nothing after the end of the run is wanted, and a paused partition costs nothing.
      if (p.done() || queues.TooFar(taker.partition)) return Reader::Wish::kPause;
      // One that holds the task is read, whatever the others have.
      if (queued == 0) return Reader::Wish::kResume;
      const size_t bytes = queues.bytes() + queues.size() * kPerRecord;
      // The larger queues wait first; with twice the share, all.
      const bool heavy =
          bytes > 2 * share ||
          (bytes > share && queued > queues.size() / taker.task->partitions().size());
      if (queued > kPauseAbove || heavy) return Reader::Wish::kPause;
      return queued < kResumeBelow && bytes < share / 4 ? Reader::Wish::kResume
                                                        : Reader::Wish::kNone;
    }));
  }
  return Status::Ok();
}

}  // namespace kstream::runtime
