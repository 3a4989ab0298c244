#include "runtime/stage_thread.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using transport::PartitionOffset;
using transport::TopicPartition;

constexpr milliseconds kPollWait{50};
constexpr milliseconds kSharedPollWait{5};  // with several consumers in turn
constexpr std::chrono::seconds kEndCheck{1};
// A queue that holds this many records while others hold the task stops being fetched.
constexpr size_t kPauseAbove = 100'000, kResumeBelow = 25'000;

}  // namespace

std::pair<StageTask*, size_t> StageThread::Reader::TakerOf(const Record& record) {
  if (record.topic.data() != last_topic || record.partition != last_partition) {
    const auto found = takers.find({std::string(record.topic), record.partition});
    last_taker = found == takers.end() ? std::pair<StageTask*, size_t>() : found->second;
    last_topic = record.topic.data();
    last_partition = record.partition;
  }
  return last_taker;
}

StageThread::StageThread(KafkaShared* shared, int index)
    : shared_(shared), index_(index), outputs_(shared->state, shared->files) {
  cache_.reader = &json_reader_;
}

StageThread::~StageThread() = default;

Status StageThread::Run() {
  KSTREAM_RETURN_IF_ERROR(Open());
  Status status = Loop();
  if (!shared_->files->closed() && status.code() != StatusCode::kFenced) {
    // What was done before a failure is kept, all the same.
    if (Status finished = committer_->Finish(); status.ok()) status = finished;
  }
  tasks_.clear();
  for (auto& reader : readers_) {
    if (Status closed = reader->consumer->Close(); status.ok()) status = closed;
  }
  return status;
}

Status StageThread::Open() {
  RunState* const state = shared_->state;
  KSTREAM_RETURN_IF_ERROR(outputs_.Open());
  KSTREAM_ASSIGN_OR_RETURN(ingest_, task::Ingest::Create(state->source(), state->serdes));
  bad_records_ =
      std::make_unique<task::BadRecords>(state->policy(), &state->bad, outputs_.dead_letters());
  KSTREAM_RETURN_IF_ERROR(OpenReaders());
  transport::Consumer* committing =
      grouped() && !state->options.dry_run ? readers_.front()->consumer.get() : nullptr;
  committer_ = std::make_unique<Committer>(&outputs_, committing, state->options.commit_interval,
                                           [this](bool all) { return Positions(all); });
  return grouped() ? Status::Ok() : AssignAll();
}

Status StageThread::OpenReaders() {
  const RuntimeOptions& options = shared_->state->options;
  transport::ConsumerOptions consumer_options;
  consumer_options.group = options.app;
  consumer_options.threads = options.threads;
  if (!options.instance_id.empty()) {
    consumer_options.instance_id = fmt::format("{}-{}", options.instance_id, index_);
  }
  for (const Location& input : shared_->state->source().inputs) {
    if (std::any_of(readers_.begin(), readers_.end(),
                    [&](auto& r) { return r->cluster == input.cluster; }))
      continue;
    auto reader = std::make_unique<Reader>();
    reader->cluster = input.cluster;
    KSTREAM_ASSIGN_OR_RETURN(
        reader->consumer,
        shared_->state->clusters.at(input.cluster)->NewConsumer(consumer_options));
    readers_.push_back(std::move(reader));
  }
  if (!grouped()) return Status::Ok();
  std::vector<std::string> topics;
  if (!shared_->plan.lead.empty()) {
    topics.push_back(shared_->plan.lead);
  } else {
    for (const Location& input : shared_->state->source().inputs) topics.push_back(input.name);
  }
  return readers_.front()->consumer->Subscribe(topics);
}

Status StageThread::AssignAll() {
  for (int32_t i = index_; i < shared_->plan.Tasks(); i += shared_->state->options.threads) {
    KSTREAM_RETURN_IF_ERROR(Adopt(fmt::format("0_{}", i), shared_->plan.PartitionsOfTask(i)));
  }
  return Status::Ok();
}

Status StageThread::Loop() {
  const milliseconds wait = readers_.size() > 1 ? kSharedPollWait : kPollWait;
  while (!Ended()) {
    for (auto& reader : readers_) KSTREAM_RETURN_IF_ERROR(Turn(reader.get(), wait));
    KSTREAM_RETURN_IF_ERROR(outputs_.FlushFiles());
    outputs_.Poll();
    KSTREAM_RETURN_IF_ERROR(committer_->Turn(Clock::now()));
  }
  return Status::Ok();
}

bool StageThread::Ended() {
  RunState* const state = shared_->state;
  if (state->stopping() || state->limit_reached() || shared_->files->closed()) return true;
  if (!state->options.exit_at_end && !state->from.until_time) return false;
  const bool done =
      std::all_of(tasks_.begin(), tasks_.end(), [](auto& task) { return task.second->done(); });
  if (!done) return false;
  return !tasks_.empty() || !grouped() || GroupReachedEnds();
}

// A member without tasks waits for those that have them: its work may still come.
bool StageThread::GroupReachedEnds() {
  if (Clock::now() < next_end_check_) return false;
  next_end_check_ = Clock::now() + kEndCheck;
  std::vector<TopicPartition> partitions;
  for (const auto& [partition, end] : shared_->plan.ends) partitions.push_back(partition.second);
  const auto committed = readers_.front()->consumer->Committed(partitions);
  const std::lock_guard lock(shared_->admin_mutex);
  const auto watermarks = shared_->admins.at("")->Offsets(partitions);
  if (!committed.ok() || !watermarks.ok()) return false;
  return std::all_of(committed->begin(), committed->end(), [&](const PartitionOffset& offset) {
    const auto& log = watermarks->at(offset.partition);
    const int64_t end = shared_->plan.ends.at({"", offset.partition});
    if (offset.offset == transport::kNoOffset) return log.low >= end;
    // A commit that the log no longer holds is no end: whoever gets the partition tells of it.
    return offset.offset >= std::max(end, log.low) && offset.offset <= log.high;
  });
}

Status StageThread::Turn(Reader* reader, milliseconds wait) {
  // Queued records keep the batch they point into alive.
  if (!reader->owned || reader->owned.use_count() > 1) {
    reader->owned = std::make_shared<OwnedBatch>();
    reader->owned->batch = reader->consumer->NewBatch();
  }
  reader->owned->arena.Reset();
  KSTREAM_RETURN_IF_ERROR(reader->consumer->Poll(wait, reader->owned->batch.get()));
  KSTREAM_RETURN_IF_ERROR(TakeRecords(reader));
  return Rebalance(reader);
}

Status StageThread::TakeRecords(Reader* reader) {
  RunState* const state = shared_->state;
  const transport::Batch& batch = *reader->owned->batch;
  state->read.fetch_add(static_cast<int64_t>(batch.records.size()), std::memory_order_relaxed);
  for (const Record& record : batch.records) {
    const auto [task, partition] = reader->TakerOf(record);
    if (!task) continue;
    KSTREAM_RETURN_IF_ERROR(task->Add(partition, record, reader->owned));
    if (state->options.limit && state->limit_reached()) return Status::Ok();
  }
  for (const PartitionOffset& end : batch.ends) {
    const auto taker = reader->takers.find(end.partition);
    if (taker == reader->takers.end()) continue;
    const auto [task, partition] = taker->second;
    task->AtEnd(partition, end.offset);
    const TaskPartition& p = task->partitions()[partition];
    if (p.end && end.offset < *p.end) {
      Log(LogLevel::kInfo,
          fmt::format("{}[{}]: waiting at offset {} for an open transaction to end",
                      end.partition.topic, end.partition.partition, end.offset));
    }
  }
  for (auto& [name, task] : tasks_) {
    if (task->merges()) KSTREAM_RETURN_IF_ERROR(task->Drain());
  }
  return PauseAndResume();
}

Status StageThread::PauseAndResume() {
  for (auto& reader : readers_) {
    std::vector<TopicPartition> pause, resume;
    for (auto& [partition, taker] : reader->takers) {
      TaskPartition& p = taker.first->partitions()[taker.second];
      const size_t queued = taker.first->Queued(taker.second);
      // Nothing after the end of the run is wanted, and a paused partition costs nothing.
      const bool change =
          p.paused ? !p.done() && queued < kResumeBelow : p.done() || queued > kPauseAbove;
      if (!change) continue;
      (p.paused ? resume : pause).push_back(partition);
      p.paused = !p.paused;
    }
    if (!pause.empty()) KSTREAM_RETURN_IF_ERROR(reader->consumer->Pause(pause));
    if (!resume.empty()) KSTREAM_RETURN_IF_ERROR(reader->consumer->Resume(resume));
  }
  return Status::Ok();
}

Status StageThread::Rebalance(Reader* reader) {
  const transport::Batch& batch = *reader->owned->batch;
  if (!batch.lost.empty()) KSTREAM_RETURN_IF_ERROR(DropTasks(batch.lost, false, reader));
  if (!batch.revoked.empty()) KSTREAM_RETURN_IF_ERROR(DropTasks(batch.revoked, true, reader));
  for (const TopicPartition& lead : batch.assigned) {
    std::vector<InputPartition> partitions;
    std::string name = fmt::format("0_{}", lead.partition);
    if (shared_->plan.lead.empty()) {
      name = fmt::format("0_{}_{}", lead.topic, lead.partition);
    } else {
      partitions = shared_->plan.PartitionsOfTask(lead.partition);
    }
    // With a pattern, and for a partition that came after the start.
    if (partitions.empty()) partitions.push_back({"", lead});
    KSTREAM_RETURN_IF_ERROR(Adopt(name, std::move(partitions)));
  }
  return Status::Ok();
}

Status StageThread::Adopt(const std::string& name, std::vector<InputPartition> partitions) {
  KSTREAM_ASSIGN_OR_RETURN(std::vector<TaskPartition> positions, StartPositions(partitions));
  const StageTask::Env env{shared_->state, &outputs_, ingest_.get(), bad_records_.get(), &cache_};
  auto task = std::make_unique<StageTask>(env, name, std::move(positions));
  KSTREAM_RETURN_IF_ERROR(task->Init());
  for (auto& reader : readers_) {
    std::vector<PartitionOffset> assign;
    for (size_t i = 0; i < task->partitions().size(); i++) {
      const TaskPartition& p = task->partitions()[i];
      if (p.input.cluster != reader->cluster) continue;
      reader->takers[p.input.partition] = {task.get(), i};
      reader->last_topic = nullptr;
      assign.push_back({p.input.partition, p.position, ""});
    }
    if (!assign.empty()) KSTREAM_RETURN_IF_ERROR(reader->consumer->Assign(assign));
  }
  tasks_[name] = std::move(task);
  return Status::Ok();
}

// Finishes and closes the tasks of these lead partitions; `commit` false: they belong to others
// already.
Status StageThread::DropTasks(const std::vector<TopicPartition>& leads, bool commit,
                              Reader* reader) {
  Status finished;
  if (commit) finished = committer_->Finish();
  if (!finished.ok()) {
    KSTREAM_RETURN_IF_ERROR(outputs_.failure());
    Log(LogLevel::kWarning,
        finished.message());  // the new owner reads again what this commit would have saved
  }
  std::vector<TopicPartition> leaving = leads;
  for (const TopicPartition& lead : leads) {
    const auto taker = reader->takers.find(lead);
    if (taker == reader->takers.end()) continue;
    StageTask* const task = taker->second.first;
    for (const TaskPartition& p : task->partitions()) {
      if (p.input.partition != lead) leaving.push_back(p.input.partition);
      reader->takers.erase(p.input.partition);
    }
    std::erase_if(tasks_, [&](auto& entry) { return entry.second.get() == task; });
  }
  reader->last_topic = nullptr;
  if (!commit) committer_->Forget(leaving);
  return commit || leaving.size() > leads.size() ? reader->consumer->Unassign(leaving)
                                                 : Status::Ok();
}

Result<std::vector<TaskPartition>> StageThread::StartPositions(
    const std::vector<InputPartition>& partitions) {
  RunState* const state = shared_->state;
  std::vector<TaskPartition> result;
  for (auto& reader : readers_) {
    std::vector<TopicPartition> here;
    for (const InputPartition& input : partitions) {
      if (input.cluster == reader->cluster) here.push_back(input.partition);
    }
    if (here.empty()) continue;
    std::vector<PartitionOffset> committed;
    for (const TopicPartition& partition : here)
      committed.push_back({partition, transport::kNoOffset, ""});
    if (grouped()) {
      KSTREAM_ASSIGN_OR_RETURN(committed, reader->consumer->Committed(here));
    }
    std::map<TopicPartition, int64_t> from;
    {
      // What came after the start comes alone, and all of it is new: --from is about what was
      // there.
      const FromSpec spec = shared_->plan.Holds(partitions.front()) ? state->from : FromSpec();
      const std::lock_guard lock(shared_->admin_mutex);
      KSTREAM_ASSIGN_OR_RETURN(from, spec.Resolve(shared_->admins.at(reader->cluster).get(), here));
    }
    for (const PartitionOffset& offset : committed) {
      TaskPartition p;
      p.input = {reader->cluster, offset.partition};
      KSTREAM_ASSIGN_OR_RETURN(p.position,
                               CheckCommitted(p.input, offset.offset, from.at(offset.partition)));
      p.given_out = offset.offset;
      if (state->options.exit_at_end || state->from.until_time) {
        const auto end = shared_->plan.ends.find({reader->cluster, offset.partition});
        p.end = end == shared_->plan.ends.end() ? p.position : end->second;
      }
      result.push_back(std::move(p));
    }
  }
  // In the order of the inputs, which decides between equal timestamps.
  std::sort(result.begin(), result.end(), [&](const TaskPartition& a, const TaskPartition& b) {
    const auto rank = [&](const TaskPartition& p) {
      return std::find_if(partitions.begin(), partitions.end(), [&](const InputPartition& input) {
        return input.cluster == p.input.cluster && input.partition == p.input.partition;
      });
    };
    return rank(a) < rank(b);
  });
  return result;
}

// Where to begin: the commit if the log still holds it, `from` if there is none.
Result<int64_t> StageThread::CheckCommitted(const InputPartition& input, int64_t committed,
                                            int64_t from) {
  if (committed == transport::kNoOffset) return from;
  transport::Admin::Watermarks log;
  {
    const std::lock_guard lock(shared_->admin_mutex);
    const TopicPartition partitions[] = {input.partition};
    KSTREAM_ASSIGN_OR_RETURN(const auto watermarks,
                             shared_->admins.at(input.cluster)->Offsets(partitions));
    log = watermarks.at(input.partition);
  }
  if (committed >= log.low && committed <= log.high) return committed;
  const std::string what =
      committed < log.low
          ? fmt::format("{}[{}]: committed {}, log starts at {}, {} records gone",
                        input.partition.topic, input.partition.partition, committed, log.low,
                        log.low - committed)
          : fmt::format("{}[{}]: committed {}, log ends at {}: the topic was made anew",
                        input.partition.topic, input.partition.partition, committed, log.high);
  if (!shared_->state->options.from_given) {
    return Status::Cluster(what + ": say where to go on with --from, such as --from beginning");
  }
  Log(LogLevel::kWarning, fmt::format("{}: going on at {}", what, from));
  return from;
}

std::vector<PartitionOffset> StageThread::Positions(bool all) {
  std::vector<PartitionOffset> positions;
  // Output that nobody could read is not done.
  if (!grouped() || shared_->files->closed()) return positions;
  for (auto& [name, task] : tasks_) {
    for (TaskPartition& p : task->partitions()) {
      if (!all && p.position == p.given_out) continue;
      // Nothing to say yet; but an end at 0 would be elsewhere for the next owner.
      if (p.given_out == transport::kNoOffset && p.position == 0 &&
          shared_->state->from.kind == FromSpec::Kind::kBeginning)
        continue;
      p.given_out = p.position;
      positions.push_back({p.input.partition, p.position, ""});
    }
  }
  return positions;
}

}  // namespace kstream::runtime
