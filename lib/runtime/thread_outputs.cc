#include "runtime/thread_outputs.h"

#include <fmt/format.h>

#include <utility>

#include "base/stopped.h"
#include "runtime/changelogs.h"
#include "runtime/encoding.h"
#include "runtime/grouper_choice.h"
#include "runtime/output_check.h"

namespace kstream::runtime {

// Encodes records as lines of a file. With --dry-run the lines are made, and dropped.
class FileSink final : public task::RecordSink {
 public:
  FileSink(ThreadOutputs* outputs, transport::FileOutput* file,
           std::unique_ptr<SinkEncoder> encoder, bool counts)
      : outputs_(outputs), file_(file), encoder_(std::move(encoder)), counts_(counts) {}

  Status Write(const Record& record) override {
    if (!counts_) return encoder_->Append(record, &lines_);
    const size_t before = lines_.size();
    KSTREAM_RETURN_IF_ERROR(encoder_->Append(record, &lines_));
    if (!outputs_->TakeFromBudget()) {
      lines_.resize(before);
      return Status::Ok();
    }
    written_++;
    return Status::Ok();
  }

  // Swaps memory with *part, so that steady output allocates nothing.
  void Take(EncodedLines* part) {
    part->lines.clear();
    part->lines.swap(lines_);
    part->records = std::exchange(written_, 0);
  }

  Status Flush() {
    const Status status = Put(lines_, std::exchange(written_, 0));
    lines_.clear();
    return status;
  }

  // Counts what has really been written.
  Status Put(std::string_view lines, int64_t records) {
    if (file_ && !lines.empty()) {
      KSTREAM_RETURN_IF_ERROR(file_->Write(lines));
      if (file_->closed()) return Status::Ok();
    }
    outputs_->written_ += records;
    return Status::Ok();
  }

 private:
  ThreadOutputs* const outputs_;
  transport::FileOutput* const file_;  // null with --dry-run
  const std::unique_ptr<SinkEncoder> encoder_;
  const bool counts_;
  std::string lines_;
  int64_t written_ = 0;
};

// Sends records to one topic, or to the topic that each record names.
class TopicSink final : public task::RecordSink {
 public:
  TopicSink(ThreadOutputs* outputs, Location output, const SinkSpec& spec, bool counts)
      : outputs_(outputs),
        output_(std::move(output)),
        spec_(spec),
        counts_(counts),
        dry_(outputs->state_->options.dry_run && output_.cluster != kInProcess) {}

  Status Open() {
    KSTREAM_ASSIGN_OR_RETURN(producer_, outputs_->ProducerOf(output_.cluster));
    const RuntimeOptions& options = outputs_->state_->options;
    // A dry run does without the topic that a real one would make.
    if (spec_.topic_of_record || (options.dry_run && options.create_output)) return Status::Ok();
    KSTREAM_ASSIGN_OR_RETURN(topic_, producer_->Open(output_.name));
    return Status::Ok();
  }

  Status Write(const Record& record) override {
    transport::Producer::Topic* topic = topic_;
    if (spec_.topic_of_record) {
      KSTREAM_ASSIGN_OR_RETURN(topic, outputs_->TopicNamed("", record.topic));
    }
    return outputs_->SendTo(producer_, topic, spec_.partition_of_record ? record.partition : -1,
                            record, counts_, dry_);
  }

 private:
  ThreadOutputs* const outputs_;
  const Location output_;
  const SinkSpec spec_;
  const bool counts_;
  const bool dry_;
  transport::Producer* producer_ = nullptr;
  transport::Producer::Topic* topic_ = nullptr;
};

Status Changelog::Append(const store::Change& change) {
  const ChangelogRecord record(change, outputs_->state_->clock->WallMs());
  sent_ = outputs_->tag_;
  Status sent = outputs_->Put(producer_, topic_, partition_, record.record());
  // No record of an input is bad here: the store cannot be kept.
  if (sent.code() == StatusCode::kData) {
    return {StatusCode::kState, std::string(sent.message())};
  }
  return sent;
}

int64_t Changelog::last() const {
  if (!sent_) return -1;
  const int64_t offset = producer_->Acknowledged(topic_, partition_, *sent_);
  return offset == transport::kNoOffset ? -1 : offset;
}

Result<std::unique_ptr<Changelog>> ThreadOutputs::OpenChangelog(const std::string& topic,
                                                                int32_t partition) {
  KSTREAM_ASSIGN_OR_RETURN(transport::Producer* const producer, ProducerOf(""));
  KSTREAM_ASSIGN_OR_RETURN(transport::Producer::Topic* const opened,
                           producer->Open(topic, {.track_offsets = true}));
  return std::make_unique<Changelog>(this, producer, opened, partition);
}

ThreadOutputs::ThreadOutputs(RunState* state, OutputFiles* files, std::string transactional_id)
    : state_(state), files_(files), transactional_id_(std::move(transactional_id)) {}
ThreadOutputs::~ThreadOutputs() = default;

Status ThreadOutputs::Open() {
  for (const TopologyNode& node : state_->graph().nodes) {
    if (node.kind != TopologyNode::Kind::kSink) continue;
    // What goes to a repartition topic is on its way and no output.
    const bool counts = node.sink.output.kind != Location::Kind::kRepartition;
    KSTREAM_ASSIGN_OR_RETURN(by_node_[&node], NewSink(node.sink, counts));
  }
  if (state_->options.dead_letter) {
    SinkSpec spec;
    spec.output = *state_->options.dead_letter;
    spec.format = "envelope";  // of a file: only it keeps all that a dead letter carries
    KSTREAM_ASSIGN_OR_RETURN(dead_letters_, NewSink(spec, false));
  }
  return transactional() ? BeginTransactions() : Status::Ok();
}

// A transactional producer is to know its topics before it takes its id over.
Status ThreadOutputs::BeginTransactions() {
  KSTREAM_ASSIGN_OR_RETURN(transport::Producer* const producer, ProducerOf(""));
  for (const std::string& changelog : Changelogs()) {
    KSTREAM_RETURN_IF_ERROR(producer->Open(changelog, {.track_offsets = true}).status());
  }
  KSTREAM_RETURN_IF_ERROR(producer->InitTransactions());
  return producer->Begin();
}

std::vector<std::string> ThreadOutputs::Changelogs() const {
  std::vector<std::string> topics;
  if (!state_->grouped() || state_->options.dry_run) return topics;
  for (const TopologyStore& store : state_->graph().stores) {
    if (auto topic = ChangelogOf(state_->options.app, store)) topics.push_back(*std::move(topic));
  }
  return topics;
}

transport::Producer* ThreadOutputs::home() const {
  const auto found = producers_.find("");
  return found == producers_.end() ? nullptr : found->second.get();
}

Result<std::unique_ptr<task::RecordSink>> ThreadOutputs::NewSink(const SinkSpec& spec,
                                                                 bool counts) {
  const Location output = state_->Resolve(spec.output);
  if (spec.topic_of_record || output.is_topic()) {
    auto sink = std::make_unique<TopicSink>(this, output, spec, counts);
    KSTREAM_RETURN_IF_ERROR(sink->Open());
    return std::unique_ptr<task::RecordSink>(std::move(sink));
  }
  KSTREAM_ASSIGN_OR_RETURN(auto encoder, SinkEncoder::Create(spec, state_->serdes));
  auto sink =
      std::make_unique<FileSink>(this, files_->Find(output.name), std::move(encoder), counts);
  file_sinks_.push_back(sink.get());
  return std::unique_ptr<task::RecordSink>(std::move(sink));
}

Result<transport::Producer*> ThreadOutputs::ProducerOf(const std::string& cluster) {
  if (const auto found = producers_.find(cluster); found != producers_.end()) {
    return found->second.get();
  }
  const auto found = state_->clusters.find(cluster);
  if (found == state_->clusters.end()) {
    return Status::Usage(cluster.empty() ? "a topic needs brokers: name them with --brokers"
                                         : fmt::format("no --cluster {} is given", cluster));
  }
  transport::ProducerOptions options;
  if (cluster.empty()) {
    options.transactional_id = transactional_id_;
    options.idempotent = !Changelogs().empty();
  } else if (transactional()) {
    return Status::Usage(
        fmt::format("--guarantee exactly-once: a record goes to cluster {}, and a transaction "
                    "holds topics of the home cluster alone",
                    cluster));
  }
  KSTREAM_ASSIGN_OR_RETURN(auto producer, found->second->NewProducer(options));
  return producers_.emplace(cluster, std::move(producer)).first->second.get();
}

bool ThreadOutputs::TakeFromBudget() {
  if (!state_->options.limit || state_->budget.fetch_sub(1, std::memory_order_relaxed) > 0)
    return true;
  GiveBackToBudget(1);
  cut_ = true;
  return false;
}

void ThreadOutputs::GiveBackToBudget(int64_t records) {
  if (state_->options.limit) state_->budget.fetch_add(records, std::memory_order_relaxed);
}

Status ThreadOutputs::SendTo(transport::Producer* producer, transport::Producer::Topic* topic,
                             int32_t partition, const Record& record, bool counts, bool dry) {
  if (counts && !TakeFromBudget()) return Status::Ok();
  if (!dry) {
    if (Status sent = Put(producer, topic, partition, record); !sent.ok()) {
      if (counts) GiveBackToBudget(1);  // a record that is refused is no output
      return sent;
    }
  }
  if (counts) (transactional() ? uncommitted_[tag_ & 1] : written_)++;
  return Status::Ok();
}

Status ThreadOutputs::Put(transport::Producer* producer, transport::Producer::Topic* topic,
                          int32_t partition, const Record& record) {
  KSTREAM_RETURN_IF_ERROR(producer->Send(topic, partition, record, tag_));
  sent_++;
  return Status::Ok();
}

void ThreadOutputs::set_tag(uint32_t tag) {
  tag_ = tag;
  sent_ever_ += std::exchange(sent_, 0);
}

Result<transport::Producer::Topic*> ThreadOutputs::TopicNamed(const std::string& cluster,
                                                              std::string_view name) {
  auto& topics = topics_[cluster];
  if (const auto found = topics.find(name); found != topics.end()) return found->second;
  const Location output = Location::Topic(std::string(name), cluster);
  for (const Location& input : state_->Inputs()) {
    KSTREAM_ASSIGN_OR_RETURN(const bool feeds, Feeds(*state_, output, input));
    if (feeds) {
      return Status::Refused(
          fmt::format("a record goes to {}, which is an input: the stage would read what it writes",
                      NameOfTopic(cluster, output.name)));
    }
  }
  KSTREAM_ASSIGN_OR_RETURN(transport::Producer * producer, ProducerOf(cluster));
  KSTREAM_RETURN_IF_ERROR(CreateOutput(*state_, cluster, output.name));
  Result<transport::Producer::Topic*> topic = producer->Open(name);
  if (topic.ok()) topics.emplace(name, *topic);
  // A topic that cannot be written ends the stage, unless bad records are to be set aside: then
  // that of one record is its own fault.
  if (!topic.ok() && state_->options.on_error != OnError::kFail && !IsStopped(topic.status())) {
    return Status::Data(std::string(topic.status().message()));
  }
  return topic;
}

Status ThreadOutputs::Send(const Location& to, const Record& record, int32_t partition) {
  if (!to.is_topic() || to.is_pattern()) {
    return Status::Usage(fmt::format("cannot send to {}: it is not a topic", to.ToString()));
  }
  KSTREAM_ASSIGN_OR_RETURN(transport::Producer::Topic* const topic,
                           TopicNamed(to.cluster, to.name));
  KSTREAM_ASSIGN_OR_RETURN(transport::Producer* const producer, ProducerOf(to.cluster));
  return SendTo(producer, topic, partition, record, true, state_->options.dry_run);
}

Status ThreadOutputs::FlushFiles() {
  for (FileSink* sink : file_sinks_) {
    if (file_failure_.ok()) file_failure_ = sink->Flush();
  }
  return file_failure_;
}

void ThreadOutputs::TakeFiles(std::vector<EncodedLines>* parts) {
  parts->resize(file_sinks_.size());
  for (size_t i = 0; i < parts->size(); i++) file_sinks_[i]->Take(&(*parts)[i]);
}

Status ThreadOutputs::WriteFiles(const std::vector<EncodedLines>& parts) {
  for (size_t i = 0; i < parts.size(); i++) {
    KSTREAM_RETURN_IF_ERROR(file_sinks_[i]->Put(parts[i].lines, parts[i].records));
  }
  return Status::Ok();
}

uint64_t ThreadOutputs::Pending(uint32_t tag) const {
  uint64_t pending = 0;
  for (auto& [cluster, producer] : producers_) pending += producer->Pending(tag);
  return pending;
}

Status ThreadOutputs::failure() const {
  for (auto& [cluster, producer] : producers_) KSTREAM_RETURN_IF_ERROR(producer->failure());
  return file_failure_;
}

Status ThreadOutputs::Abort() { return home() == nullptr ? Status::Ok() : home()->Abort(); }

bool ThreadOutputs::recoverable() const {
  bool recoverable = false;
  for (auto& [cluster, producer] : producers_) {
    if (producer->failure().ok()) continue;
    if (!producer->recoverable()) return false;
    recoverable = true;
  }
  return recoverable && file_failure_.ok();
}

Status ThreadOutputs::Seal(std::vector<transport::PartitionOffset> offsets,
                           transport::Consumer* member) {
  return home()->Seal(std::move(offsets), member);
}

Result<bool> ThreadOutputs::Commit(std::chrono::milliseconds wait) {
  KSTREAM_ASSIGN_OR_RETURN(const bool done, home()->Commit(wait));
  if (done) written_ += std::exchange(uncommitted_[(tag_ - 1) & 1], 0);
  return done;
}

void ThreadOutputs::Poll() {
  for (auto& [cluster, producer] : producers_) producer->Poll(std::chrono::milliseconds(0));
}

void ThreadOutputs::Drop() {
  by_node_.clear();
  dead_letters_.reset();
  file_sinks_.clear();
  topics_.clear();
  producers_.clear();
  for (int64_t& records : uncommitted_) GiveBackToBudget(std::exchange(records, 0));
  cut_ = false;
}

void ThreadOutputs::Poll(const std::string& cluster) {
  const auto producer = producers_.find(cluster);
  if (producer != producers_.end()) producer->second->Poll(std::chrono::milliseconds(0));
}

Status ThreadOutputs::FlushTopics(std::chrono::milliseconds limit) {
  for (auto& [cluster, producer] : producers_) KSTREAM_RETURN_IF_ERROR(producer->Flush(limit));
  return failure();
}

}  // namespace kstream::runtime
