#include "task/node.h"

#include <fmt/format.h>

#include "task/thrown.h"

namespace kstream::task {

Status Task::Node::Init() {
  if (spec_.kind != TopologyNode::Kind::kProcessor) return Status::Ok();
  try {
    processor_ = spec_.supplier();
    if (!processor_) {
      return Status::Expression(fmt::format("processor '{}': its supplier gave none", spec_.name));
    }
    return Blamed(processor_->Init(*this));
  } catch (...) {
    return ThrownHere();
  }
}

Status Task::Node::Punctuate(const Punctuation& punctuation) {
  try {
    return Blamed(processor_->Punctuate(punctuation));
  } catch (...) {
    return ThrownHere();
  }
}

Status Task::Node::Flush() { return Call(&Processor::Flush); }
Status Task::Node::EndInput() { return Call(&Processor::EndInput); }

Status Task::Node::Call(Status (Processor::*hook)()) {
  if (!processor_) return Status::Ok();
  try {
    return Blamed((processor_.get()->*hook)());
  } catch (...) {
    return ThrownHere();
  }
}

Status Task::Node::Close() {
  if (!processor_) return Status::Ok();
  try {
    processor_->Close();
    return Status::Ok();
  } catch (...) {
    return ThrownHere();
  }
}

Status Task::Node::Blamed(const Status& status) const {
  if (status.ok() || status.message().data() == task_.blamed_.message().data()) return status;
  const bool unnamed = sink_ ? task_.unnamed_ : spec_.supplier.unnamed;
  return task_.blamed_ = unnamed ? status : status.At(fmt::format("node '{}'", spec_.name));
}

Status Task::Node::ThrownHere() const {
  return task_.blamed_ = Thrown(fmt::format("node '{}'", spec_.name));
}

Status Task::Node::Refused(std::string_view what, StatusCode code) const {
  return task_.blamed_ = Status(code, fmt::format("node '{}' {}", spec_.name, what));
}

Status Task::Node::Forward(const Record& record) {
  if (task_.phase_ == Phase::kProcessing) [[likely]]
    return ToChildren(record);
  KSTREAM_RETURN_IF_ERROR(RefuseForward());
  return ToChildren(Stamped(record));
}

Status Task::Node::Forward(const Record& record, std::string_view name) {
  if (task_.phase_ == Phase::kProcessing) [[likely]]
    return ToChild(record, name);
  KSTREAM_RETURN_IF_ERROR(RefuseForward());
  return ToChild(Stamped(record), name);
}

Status Task::Node::ToChild(const Record& record, std::string_view name) {
  for (Node* child : children_) {
    if (child->spec_.name == name) return child->Process(record);
  }
  return Refused(fmt::format("forwards to '{}', which is not a child of it", name),
                 StatusCode::kExpression);
}

Status Task::Node::Send(const Location& to, const Record& record, int32_t partition) {
  KSTREAM_RETURN_IF_ERROR(RefuseClosed("send"));
  if (!to.is_topic() || to.is_pattern()) {
    return Refused(fmt::format("sends to {}, which is not a topic", to.ToString()));
  }
  return task_.host_->Send(to, Stamped(record), partition);
}

Result<Timer> Task::Node::Schedule(std::chrono::milliseconds period, PunctuationType type) {
  KSTREAM_RETURN_IF_ERROR(RefuseClosed("schedule"));
  if (period.count() <= 0) {
    return Refused(fmt::format("schedules every {} ms: give a positive period", period.count()));
  }
  return task_.Schedule(number_, period, type);
}

void Task::Node::Commit() {
  // What was done until a task closes is committed with it.
  if (!task_.closing()) task_.host_->RequestCommit();
}

Result<StateStore*> Task::Node::Store(std::string_view name) {
  if (task_.phase_ == Phase::kClosed) return RefuseClosed("use a store");
  const auto& stores = task_.topology_.graph().stores;
  for (const size_t store : spec_.stores) {
    if (stores[store].name() == name) return task_.store(name);
  }
  return Refused(fmt::format("has no store '{}': name the node where the store is added", name));
}

Status Task::Node::RefuseClosed(std::string_view what) const {
  if (!task_.closing()) return Status::Ok();
  return Refused(fmt::format("cannot {}: its task is {}", what,
                             task_.phase_ == Phase::kClosed ? "closed" : "being closed"));
}

Status Task::Node::RefuseForward() const {
  if (task_.phase_ == Phase::kOpening) {
    return Refused("cannot forward in Init: its children come later");
  }
  return RefuseClosed("forward");
}

// A record made in Punctuate happened when that fired, unless it says otherwise.
Record Task::Node::Stamped(const Record& record) const {
  Record stamped = record;
  if (task_.phase_ == Phase::kPunctuating && record.timestamp_type == TimestampType::kNone) {
    stamped.timestamp = task_.punctuation_time_;
    stamped.timestamp_type = TimestampType::kCreateTime;
  }
  return stamped;
}

}  // namespace kstream::task
