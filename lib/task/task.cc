#include "task/task.h"

#include <fmt/format.h>

namespace kstream::task {

// A node of this task: its processor or sink, and the context through which it forwards.
class Task::Node final : public ProcessorContext {
 public:
  Node(const TopologyNode& spec, const std::string& task, RecordSink* sink)
      : spec_(spec),
        task_(task),
        sink_(sink),
        processor_(spec.supplier ? spec.supplier() : nullptr) {}

  void AddChild(Node* child) { children_.push_back(child); }

  Status Init() {
    if (spec_.kind != TopologyNode::Kind::kProcessor) return Status::Ok();
    if (!processor_) {
      return Status::Expression(fmt::format("processor '{}': its supplier gave none", spec_.name));
    }
    return processor_->Init(*this).At(spec_.name);
  }

  void Close() {
    if (processor_) processor_->Close();
  }

  Status Process(const Record& record) {
    if (sink_) return sink_->Write(record);
    return processor_->Process(record);
  }

  Status Forward(const Record& record) override {
    for (Node* child : children_) KSTREAM_RETURN_IF_ERROR(child->Process(record));
    return Status::Ok();
  }

  Status Forward(const Record& record, std::string_view name) override {
    for (Node* child : children_) {
      if (child->spec_.name == name) return child->Process(record);
    }
    return Status::Expression(
        fmt::format("node '{}' forwards to '{}', which is not a child of it", spec_.name, name));
  }

  std::string_view node() const override { return spec_.name; }
  std::string_view task() const override { return task_; }

 private:
  const TopologyNode& spec_;
  const std::string& task_;
  RecordSink* const sink_;
  std::unique_ptr<Processor> processor_;
  std::vector<Node*> children_;
};

Task::Task(const Topology& topology, std::string name, const SinkOf& sink_of)
    : topology_(topology), name_(std::move(name)) {
  const auto& specs = topology_.graph().nodes;
  for (const TopologyNode& spec : specs) {
    RecordSink* sink = spec.kind == TopologyNode::Kind::kSink ? sink_of(spec) : nullptr;
    nodes_.push_back(std::make_unique<Node>(spec, name_, sink));
    if (spec.kind == TopologyNode::Kind::kSource) sources_.push_back(nodes_.back().get());
  }
  for (size_t i = 0; i < specs.size(); i++) {
    for (const size_t child : specs[i].children) nodes_[i]->AddChild(nodes_[child].get());
  }
}

Task::~Task() { Close(); }

Status Task::Init() {
  for (; open_ < nodes_.size(); open_++) {
    if (Status status = nodes_[open_]->Init(); !status.ok()) {
      open_++;  // after a failure of Init a processor is closed too
      return status;
    }
  }
  return Status::Ok();
}

Status Task::Process(size_t source, const Record& record) {
  return sources_[source]->Forward(record);
}

void Task::Close() {
  while (open_ > 0) nodes_[--open_]->Close();
}

}  // namespace kstream::task
