#include "runtime/stream_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/stopped.h"
#include "record/json_document.h"

namespace kstream::runtime {
namespace {

// What a thread with state takes in half a second, about: each record that waits for it costs half
// a kilobyte beside its own bytes, and one that has stores has other uses for memory.
constexpr int kMostAheadWithState = 150'000;

using std::chrono::milliseconds;
using transport::PartitionOffset;
using transport::TopicPartition;

// The first batch: how long a record takes is not known yet.
constexpr size_t kFirstRecords = 16;
// message.timeout.ms of the producers ends every wait before this.
constexpr milliseconds kFlushLimit{60'000};

}  // namespace

StreamThread::StreamThread(RunShared* shared, int index)
    : shared_(shared),
      state_(shared->state),
      index_(index),
      metrics_(state_->MetricsOf(index)),
      outputs_(shared->state, shared->files, shared->transactional_id(index)),
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
    if (!state_->graph().stores.empty()) consumer.most_ahead = kMostAheadWithState;
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
  Result<bool> more = Step();
  if (more.ok()) return more;
  KSTREAM_RETURN_IF_ERROR(Mend(more.status()));
  return true;
}

Result<bool> StreamThread::Step() {
  KSTREAM_RETURN_IF_ERROR(Awake());
  KSTREAM_RETURN_IF_ERROR(FollowPause());
  bool ends = Over();
  if (!ends && !paused_) {
    KSTREAM_ASSIGN_OR_RETURN(ends, AtEnd());
  }
  if (ends) {
    // A transaction may fail yet, and then it was not the end.
    if (outputs_.transactional()) KSTREAM_RETURN_IF_ERROR(committer_->Finish());
    return false;
  }
  for (auto& reader : readers_) {
    if (reader->cluster() == kInProcess) continue;
    // Whatever comes of the records, what the group says with them must be heard.
    KSTREAM_RETURN_IF_ERROR(Mend(Read(reader.get(), WaitOf(readers_.size()))));
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
  // A stop that came before an answer is an end like any other.
  if (IsStopped(outcome)) outcome = Status::Ok();
  // Another may take its place; one that has come to its end goes on counting.
  if (!outcome.ok() || stood_still_) {
    if (at_end_) shared_->at_end--;
    ForgetCompleted();
  }
  if (committer_ && !shared_->files->closed() && outcome.code() != StatusCode::kFenced) {
    if (Status finished = FinishEpochs(); outcome.ok()) outcome = std::move(finished);
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
  for (auto& [id, stores] : rewound_) {
    if (Status closed = stores->Close(); outcome.ok()) outcome = std::move(closed);
  }
  rewound_.clear();
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

// What was done before a failure is kept, all the same.
Status StreamThread::FinishEpochs() {
  // But not, together with what it stands for, the half of a record.
  const bool torn =
      std::any_of(tasks_.begin(), tasks_.end(), [](auto& entry) { return entry.second->torn(); });
  if (outputs_.transactional() && torn) return outputs_.Abort();
  Status finished = committer_->Finish();
  if (finished.ok()) return finished;
  if (outputs_.transactional()) static_cast<void>(outputs_.Abort());
  if (IsStopped(finished)) return Status::Ok();  // the outputs were not opened: nothing was sent
  // No failure of ours: whoever has the tasks now reads again what this commit would have saved.
  const bool moved = finished.code() == StatusCode::kFenced && !outputs_.transactional();
  if (!moved && Awake().ok()) return finished;
  Log(LogLevel::kWarning,
      fmt::format("{}; what is not committed is read again by others", finished.message()));
  return Status::Ok();
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
  if (!state_->grouped()) return true;
  // What its tasks have to close they close although there is nothing to read.
  if (state_->options.close_at_end && (!joined_ || !waiting_.empty())) return false;
  // Nobody will see what others of a dry run have done.
  if (state_->options.dry_run && !tasks_.empty() && waiting_.empty()) return true;
  return shared_->ends.AllDone(*plan_, home()->consumer());
}

void StreamThread::ForgetCompleted() {
  for (const TaskId id : completed_) shared_->ends.Left(id);
  completed_.clear();
}

// Those who wait for the end of a task hear of it; in a group the others by a commit.
Status StreamThread::Complete(TaskId id) {
  StageTask* const task = tasks_.at(id).get();
  task->MarkAtEnd();
  if (!state_->grouped() || state_->options.close_at_end) {
    KSTREAM_RETURN_IF_ERROR(task->EndInput());
  }
  if (state_->grouped()) {
    committer_->Request();
  } else {
    KSTREAM_RETURN_IF_ERROR(task->Flush());
    KSTREAM_RETURN_IF_ERROR(outputs_.FlushTopics(kFlushLimit));
  }
  shared_->ends.Completed(id);
  return Status::Ok();
}

}  // namespace kstream::runtime
