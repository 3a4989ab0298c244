#include "runtime/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/changelogs.h"
#include "runtime/encoding.h"

namespace kstream::runtime {
namespace {

// Creates a topic that is missing, if --create-output says so.
Status CreateTopic(const RunState& state, const std::string& cluster, const std::string& topic) {
  if (!state.options.create_output || state.options.dry_run) return Status::Ok();
  const auto [partitions, replication] = *state.options.create_output;
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, state.clusters.at(cluster)->NewAdmin());
  return admin->CreateTopic(topic, partitions, static_cast<int16_t>(replication)).status();
}

Status CreateOutputTopics(const RunState& state) {
  for (const Location& output : SinkLocations(state)) {
    if (output.is_topic()) KSTREAM_RETURN_IF_ERROR(CreateTopic(state, output.cluster, output.name));
  }
  return Status::Ok();
}

Status WrittenTwice(const std::string& a, const std::string& b) {
  return Status::Usage(
      a == b
          ? fmt::format("{} is the place of two outputs: give each its own",
                        a == "-" ? "stdout" : a)
          : fmt::format("{} and {} are one file, and the place of two outputs: give each its own",
                        a == "-" ? "stdout" : a, b == "-" ? "stdout" : b));
}

}  // namespace

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
  const std::string time = fmt::format("{}", change.timestamp);
  const Header header{kRowTimeHeader, time};
  Record record;
  record.key = change.key;
  if (change.value) record.value = *change.value;
  record.headers = std::span(&header, 1);
  record.timestamp = outputs_->state_->clock->WallMs();
  record.timestamp_type = TimestampType::kCreateTime;
  sent_ = outputs_->tag_;
  Status sent = producer_->Send(topic_, partition_, record, outputs_->tag_);
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

std::vector<Location> SinkLocations(const RunState& state) {
  std::vector<Location> locations;
  for (const TopologyNode& node : state.graph().nodes) {
    if (node.kind == TopologyNode::Kind::kSink && !node.sink.topic_of_record) {
      locations.push_back(state.Resolve(node.sink.output));
    }
  }
  if (state.options.dead_letter) locations.push_back(*state.options.dead_letter);
  return locations;
}

Status OutputFiles::Open(const RunState& state) {
  std::map<transport::FileId, std::string> inputs;
  for (const Location& input : state.Inputs()) {
    const auto id = input.is_topic() ? std::nullopt : transport::IdOfInput(input.name);
    if (id) inputs.emplace(*id, input.name);
  }
  if (state.options.dry_run) return Status::Ok();
  // A run that goes on where the last one of its group stopped goes on with the files of that one
  // too.
  const bool append = state.grouped();
  std::map<transport::FileId, std::string> outputs;
  for (const Location& output : SinkLocations(state)) {
    if (output.is_topic()) continue;
    if (files_.contains(output.name)) return WrittenTwice(output.name, output.name);
    KSTREAM_ASSIGN_OR_RETURN(auto file, transport::FileOutput::Open(output.name, append));
    const auto id = file->id();
    files_.emplace(output.name, std::move(file));
    if (!id) continue;
    if (const auto input = inputs.find(*id); input != inputs.end()) {
      return Status::Usage(fmt::format("{} is both input and output: write to another file",
                                       output.name == "-" ? "stdout" : output.name));
    }
    const auto [other, fresh] = outputs.emplace(*id, output.name);
    if (!fresh) return WrittenTwice(other->second, output.name);
  }
  for (auto& [name, file] : files_) {
    if (!append) KSTREAM_RETURN_IF_ERROR(file->Truncate());
  }
  return Status::Ok();
}

transport::FileOutput* OutputFiles::Find(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : found->second.get();
}

bool OutputFiles::closed() const {
  return std::any_of(files_.begin(), files_.end(),
                     [](auto& file) { return file.second->closed(); });
}

Status OutputFiles::Close() {
  Status first;
  for (auto& [path, file] : files_) {
    if (Status status = file->Close(); !status.ok() && first.ok()) first = status;
  }
  return first;
}

Status OpenOutputs(const RunState& state, OutputFiles* files) {
  KSTREAM_RETURN_IF_ERROR(CreateOutputTopics(state));
  return files->Open(state);
}

ThreadOutputs::ThreadOutputs(RunState* state, OutputFiles* files) : state_(state), files_(files) {}
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
  return Status::Ok();
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
  KSTREAM_ASSIGN_OR_RETURN(auto producer, found->second->NewProducer());
  return producers_.emplace(cluster, std::move(producer)).first->second.get();
}

bool ThreadOutputs::TakeFromBudget() {
  if (!state_->options.limit || state_->budget.fetch_sub(1, std::memory_order_relaxed) > 0)
    return true;
  cut_ = true;
  return false;
}

void ThreadOutputs::GiveBackToBudget() {
  if (state_->options.limit) state_->budget.fetch_add(1, std::memory_order_relaxed);
}

Status ThreadOutputs::SendTo(transport::Producer* producer, transport::Producer::Topic* topic,
                             int32_t partition, const Record& record, bool counts, bool dry) {
  if (counts && !TakeFromBudget()) return Status::Ok();
  if (!dry) {
    if (Status sent = producer->Send(topic, partition, record, tag_); !sent.ok()) {
      if (counts) GiveBackToBudget();  // a record that is refused is no output
      return sent;
    }
  }
  if (counts) written_++;
  return Status::Ok();
}

Result<transport::Producer::Topic*> ThreadOutputs::TopicNamed(const std::string& cluster,
                                                              std::string_view name) {
  auto& topics = topics_[cluster];
  if (const auto found = topics.find(name); found != topics.end()) return found->second;
  const Location output = Location::Topic(std::string(name), cluster);
  KSTREAM_ASSIGN_OR_RETURN(const Location place, state_->identities.Of(output));
  for (const Location& input : state_->Inputs()) {
    KSTREAM_ASSIGN_OR_RETURN(const Location read, state_->identities.Of(input));
    KSTREAM_ASSIGN_OR_RETURN(const bool reads, Reads(read, place));
    if (reads) {
      return Status::Refused(
          fmt::format("a record goes to {}, which is an input: the stage would read what it writes",
                      cluster.empty() ? output.name : fmt::format("{}:{}", cluster, output.name)));
    }
  }
  KSTREAM_ASSIGN_OR_RETURN(transport::Producer * producer, ProducerOf(cluster));
  KSTREAM_RETURN_IF_ERROR(CreateTopic(*state_, cluster, output.name));
  Result<transport::Producer::Topic*> topic = producer->Open(name);
  if (topic.ok()) topics.emplace(name, *topic);
  // A topic that cannot be written ends the stage, unless bad records are to be set aside: then
  // that of one record is its own fault.
  if (!topic.ok() && state_->options.on_error != OnError::kFail) {
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

void ThreadOutputs::Poll() {
  for (auto& [cluster, producer] : producers_) producer->Poll(std::chrono::milliseconds(0));
}

void ThreadOutputs::Drop() {
  by_node_.clear();
  dead_letters_.reset();
  file_sinks_.clear();
  topics_.clear();
  producers_.clear();
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
