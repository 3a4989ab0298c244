// A node of a task: its processor or sink, and the context through which the processor works.
//
// The hot path is ToChildren: a loop over children whose Process is one virtual call in a try
// block. What holds outside of a record (in Init, Punctuate and Close) is told apart by one
// comparison in Forward. A record that passes source, processor and sink costs 10 ns in all.
//
// A failure travels up through every node's Process as their Forward gave it. The innermost node
// puts its name before it, and Task::blamed_ remembers the result, so that the others, which return
// the very same status, are not blamed too. All of that is done when something has failed.
#ifndef KSTREAM_TASK_NODE_H_
#define KSTREAM_TASK_NODE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "task/task.h"

namespace kstream::task {

class Task::Node final : public ProcessorContext {
 public:
  // `number`: its place among the task's nodes.
  Node(const TopologyNode& spec, size_t number, Task* task, RecordSink* sink)
      : spec_(spec), number_(number), task_(*task), sink_(sink) {}

  void AddChild(Node* child) { children_.push_back(child); }

  // Makes the processor and initialises it.
  Status Init();
  // What is thrown here may come from this node's code only: the nodes below catch their own.
  Status Process(const Record& record) {
    try {
      Status status = sink_ ? sink_->Write(record) : processor_->Process(record);
      if (!status.ok()) [[unlikely]]
        return Blamed(status);
      return status;
    } catch (...) {
      return ThrownHere();
    }
  }
  Status Punctuate(const Punctuation& punctuation);
  Status Flush();
  Status EndInput();
  Status Close();

  Status ToChildren(const Record& record) {
    if (children_.empty()) return Status::Ok();
    // The last one's answer is handed through and not looked at: most nodes have one child.
    Node* const* child = children_.data();
    for (Node* const* last = &children_.back(); child != last; ++child) {
      KSTREAM_RETURN_IF_ERROR((*child)->Process(record));
    }
    return (*child)->Process(record);
  }

  Status Forward(const Record& record) override;
  Status Forward(const Record& record, std::string_view child) override;
  Status Send(const Location& to, const Record& record, int32_t partition) override;
  Result<Timer> Schedule(std::chrono::milliseconds period, PunctuationType type) override;
  void Commit() override;
  const Record* source_record() const override { return task_.source_record_; }
  std::optional<int64_t> stream_time() const override { return task_.stream_time(); }
  std::optional<int64_t> committed_stream_time() const override {
    return task_.committed_stream_time_;
  }
  void AdvanceStreamTime(int64_t time) override { task_.AdvanceStreamTime(time); }
  bool at_end() const override { return task_.at_end_; }
  int64_t wall_clock_time() const override { return task_.host_->clock().WallMs(); }
  Result<StateStore*> Store(std::string_view name) override;
  std::string_view node() const override { return spec_.name; }
  std::string_view task() const override { return task_.name_; }

 private:
  // A failure of this node's, with its name, unless a node below it, or this one, has been blamed.
  // Ok stays ok.
  Status Blamed(const Status& status) const;
  Status ThrownHere() const;
  // "node 'NAME' <what>": what it must not do.
  Status Refused(std::string_view what, StatusCode code = StatusCode::kUsage) const;
  Status Call(Status (Processor::*hook)());
  Status ToChild(const Record& record, std::string_view name);
  // kUsage: the node cannot do `what` while it is being closed, or afterwards.
  Status RefuseClosed(std::string_view what) const;
  Status RefuseForward() const;
  Record Stamped(const Record& record) const;

  const TopologyNode& spec_;
  const size_t number_;
  Task& task_;
  RecordSink* const sink_;
  std::unique_ptr<Processor> processor_;
  std::vector<Node*> children_;
};

}  // namespace kstream::task

#endif  // KSTREAM_TASK_NODE_H_
