#include "task/task.h"

#include <gtest/gtest.h>

#include <vector>

namespace kstream::task {
namespace {

using Events = std::vector<std::string>;

// Notes its life, and forwards.
class Noted : public Processor {
 public:
  Noted(Events* events, std::string name, Status on_init = {})
      : events_(events), name_(std::move(name)), on_init_(on_init) {}
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    events_->push_back("init " + name_);
    return on_init_;
  }
  Status Process(const Record& record) override {
    events_->push_back("process " + name_);
    return context_->Forward(record);
  }
  void Close() override { events_->push_back("close " + name_); }

 private:
  Events* events_;
  std::string name_;
  Status on_init_;
  ProcessorContext* context_ = nullptr;
};

class NotedSink : public RecordSink {
 public:
  explicit NotedSink(Events* events) : events_(events) {}
  Status Write(const Record& record) override {
    events_->push_back("write " + std::string(record.value.value_or("null")));
    return Status::Ok();
  }

 private:
  Events* events_;
};

SourceSpec FromFile() {
  SourceSpec spec;
  spec.inputs.push_back({Location::Kind::kFile, "", "in"});
  return spec;
}

ProcessorSupplier Supply(Events* events, std::string name, Status on_init = {}) {
  return [=] { return std::make_unique<Noted>(events, name, on_init); };
}

TEST(Task, InitialisesParentsFirstClosesChildrenFirstAndForwardsToAllInOrder) {
  Events events;
  NotedSink sink(&events);
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a", Supply(&events, "a"), {"in"})
      .AddProcessor("b", Supply(&events, "b"), {"a"})
      .AddSink("out", {}, {"a", "b"});
  {
    Task task(*builder.Build(), "0_0", [&](auto&) { return &sink; });
    ASSERT_TRUE(task.Init().ok());
    Record record;
    record.value = "1";
    ASSERT_TRUE(task.Process(0, record).ok());
  }
  EXPECT_EQ(events, (Events{"init a", "init b", "process a", "process b", "write 1", "write 1",
                            "close b", "close a"}));
}

TEST(Task, ClosesWhatWasInitialisedWhenAnInitFails) {
  Events events;
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a", Supply(&events, "a"), {"in"})
      .AddProcessor("b", Supply(&events, "b", Status::Usage("no table")), {"a"})
      .AddProcessor("c", Supply(&events, "c"), {"b"});
  {
    Task task(*builder.Build(), "0_0", [&](auto&) { return nullptr; });
    const Status status = task.Init();
    EXPECT_EQ(status.message(), "b: no table");
    EXPECT_EQ(status.code(), StatusCode::kUsage);
  }
  EXPECT_EQ(events, (Events{"init a", "init b", "close b", "close a"}));
}

// Sends to a child by name.
class Switch : public Processor {
 public:
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return Status::Ok();
  }
  Status Process(const Record& record) override { return context_->Forward(record, *record.key); }

 private:
  ProcessorContext* context_ = nullptr;
};

TEST(Task, ForwardsToANamedChildAndNamesAChildThatIsNone) {
  Events events;
  NotedSink left(&events), right(&events);
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("switch", [] { return std::make_unique<Switch>(); }, {"in"})
      .AddSink("left", {}, {"switch"})
      .AddSink("right", {}, {"switch"});
  Task task(*builder.Build(), "0_0",
            [&](auto& node) { return node.name == "left" ? &left : &right; });
  ASSERT_TRUE(task.Init().ok());
  Record record;
  record.value = "1";
  record.key = "right";
  EXPECT_TRUE(task.Process(0, record).ok());
  EXPECT_EQ(events, Events{"write 1"});
  record.key = "middle";
  EXPECT_EQ(task.Process(0, record).message(),
            "node 'switch' forwards to 'middle', which is not a child of it");
}

}  // namespace
}  // namespace kstream::task
