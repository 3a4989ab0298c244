#include "task/task.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "task/node.h"
#include "task/thrown.h"

namespace kstream::task {
namespace {

bool IsUnnamed(const TopologyGraph& graph) {
  bool any = false;
  for (const TopologyNode& node : graph.nodes) {
    if (node.kind != TopologyNode::Kind::kProcessor) continue;
    if (!node.supplier.unnamed) return false;
    any = true;
  }
  return any;
}

}  // namespace

Task::Task(const Topology& topology, size_t stage, std::string name, TaskHost* host)
    : topology_(topology),
      stage_(topology_.graph().stages[stage]),
      name_(std::move(name)),
      host_(host),
      unnamed_(IsUnnamed(topology_.graph())),
      stream_timers_(std::make_unique<PunctuationQueue>(PunctuationType::kStreamTime)),
      wall_timers_(std::make_unique<PunctuationQueue>(PunctuationType::kWallClockTime)) {
  const TopologyGraph& graph = topology_.graph();
  std::vector<Node*> by_index(graph.nodes.size());
  for (const size_t index : stage_.nodes) {
    const TopologyNode& spec = graph.nodes[index];
    RecordSink* sink = spec.kind == TopologyNode::Kind::kSink ? host_->SinkOf(spec) : nullptr;
    nodes_.push_back(std::make_unique<Node>(spec, nodes_.size(), this, sink));
    by_index[index] = nodes_.back().get();
  }
  for (const size_t index : stage_.nodes) {
    for (const size_t child : graph.nodes[index].children) {
      by_index[index]->AddChild(by_index[child]);
    }
  }
  for (const size_t source : stage_.sources) sources_.push_back(by_index[source]);
}

Task::~Task() {
  if (Status status = Close(); !status.ok()) Log(LogLevel::kError, status.At(name_).message());
}

Status Task::Init(const KeptStores& kept) {
  KSTREAM_RETURN_IF_ERROR(OpenStores(kept));
  while (open_ < nodes_.size()) {
    // Counted first: after a failure of Init a processor is closed too.
    KSTREAM_RETURN_IF_ERROR(nodes_[open_++]->Init());
  }
  phase_ = Phase::kProcessing;
  return Status::Ok();
}

Status Task::OpenStores(const KeptStores& kept) {
  for (const size_t index : stage_.stores) {
    KSTREAM_ASSIGN_OR_RETURN(StateStore* const store,
                             OpenStore(topology_.graph().stores[index], kept));
    stores_.push_back(store);
  }
  return Status::Ok();
}

Result<StateStore*> Task::OpenStore(const TopologyStore& spec, const KeptStores& kept) {
  if (spec.kept) {
    const auto found = kept.find(spec.name());
    if (found != kept.end()) return found->second;
    return Status::Expression(fmt::format("store '{}' is not kept here", spec.name()));
  }
  try {
    std::unique_ptr<StateStore> store = spec.supplier(spec.name());
    if (!store) {
      return Status::Expression(fmt::format("store '{}': its supplier gave none", spec.name()));
    }
    return supplied_.emplace_back(std::move(store)).get();
  } catch (...) {
    return Thrown(fmt::format("store '{}'", spec.name()));
  }
}

Status Task::Process(size_t source, const Record& record, const Record& read) {
  source_record_ = &read;
  record_time_ = record.timestamp;
  Status status = sources_[source]->ToChildren(record);
  source_record_ = nullptr;
  if (!status.ok()) [[unlikely]] {
    failed_.reset();
    return status;
  }
  if (record.timestamp > stream_time_ && record.timestamp_type != TimestampType::kNone) {
    stream_time_ = record.timestamp;
  }
  if (stream_time_ >= stream_due_) [[unlikely]] {
    if (stream_time_ != kNoTime) stream_timers_->Start(stream_time_);
    return FireStreamTime();
  }
  return status;
}

Status Task::Punctuate() {
  KSTREAM_RETURN_IF_ERROR(FireStreamTime());
  return Fire(wall_timers_.get(), PunctuationType::kWallClockTime, host_->clock().WallMs());
}

Status Task::FireStreamTime() {
  if (stream_time_ == kNoTime) return Status::Ok();
  Status status = Fire(stream_timers_.get(), PunctuationType::kStreamTime, stream_time_);
  stream_due_ = stream_timers_->next();
  return status;
}

Status Task::Fire(PunctuationQueue* timers, PunctuationType type, int64_t now) {
  while (std::optional<PunctuationQueue::Due> due = timers->Take(now)) {
    phase_ = Phase::kPunctuating;
    punctuation_time_ = now;
    punctuations_++;
    Status status = nodes_[due->node]->Punctuate({type, now, std::move(due->timer)});
    phase_ = Phase::kProcessing;
    if (!status.ok()) {
      failed_.emplace();
      failed_->timestamp = now;
      failed_->timestamp_type = TimestampType::kCreateTime;
      return status;
    }
  }
  return Status::Ok();
}

Status Task::Flush() {
  for (auto& node : nodes_) KSTREAM_RETURN_IF_ERROR(node->Flush());
  return Status::Ok();
}

Status Task::EndInput() {
  for (auto& node : nodes_) KSTREAM_RETURN_IF_ERROR(node->EndInput());
  return Status::Ok();
}

int64_t Task::event_time() const {
  if (phase_ == Phase::kPunctuating) return punctuation_time_;
  if (source_record_) return record_time_;
  return stream_time().value_or(0);
}

Timer Task::Schedule(size_t node, std::chrono::milliseconds period, PunctuationType type) {
  const std::string_view name = nodes_[node]->node();
  if (type == PunctuationType::kWallClockTime) {
    return wall_timers_->Add(node, name, period, host_->clock().WallMs());
  }
  // In Punctuate the stream time stands. Otherwise the record at hand, or the first one to come,
  // has yet to move it.
  std::optional<int64_t> start;
  if (phase_ == Phase::kPunctuating) start = stream_time();
  Timer timer = stream_timers_->Add(node, name, period, start);
  stream_due_ = stream_timers_->next();
  return timer;
}

int64_t Task::next_wall_clock_punctuation() const { return wall_timers_->next(); }

std::optional<int64_t> Task::stream_time() const {
  if (stream_time_ == kNoTime) return std::nullopt;
  return stream_time_;
}

void Task::set_stream_time(std::optional<int64_t> time) {
  stream_time_ = time.value_or(kNoTime);
  committed_stream_time_ = time;
}

StateStore* Task::store(std::string_view name) const {
  for (size_t i = 0; i < stores_.size(); i++) {
    if (topology_.graph().stores[stage_.stores[i]].name() == name) return stores_[i];
  }
  return nullptr;
}

Status Task::Close() {
  if (phase_ == Phase::kClosed) return Status::Ok();
  phase_ = Phase::kClosing;
  Status first;
  const auto note = [&](Status status) {
    if (status.ok()) return;
    if (first.ok()) {
      first = std::move(status);
    } else {
      Log(LogLevel::kError, status.At(name_).message());
    }
  };
  while (open_ > 0) {
    open_--;
    note(nodes_[open_]->Close());
    stream_timers_->Close(open_);
    wall_timers_->Close(open_);
  }
  for (auto store = stores_.rbegin(); store != stores_.rend(); ++store) {
    try {
      (*store)->Close();
    } catch (...) {
      note(Thrown(fmt::format("store '{}'", (*store)->name())));
    }
  }
  phase_ = Phase::kClosed;
  return first;
}

}  // namespace kstream::task
