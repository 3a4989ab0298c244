// What the tests of tasks share: a host that notes what it is asked, and a processor made of
// functions.
#ifndef KSTREAM_TESTS_UNIT_TASK_TASK_TESTING_H_
#define KSTREAM_TESTS_UNIT_TASK_TASK_TESTING_H_

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "task/task.h"

namespace kstream::task {

using Events = std::vector<std::string>;

// "value", or "value@timestamp".
inline std::string Text(const Record& record) {
  std::string text(record.value.value_or("null"));
  if (record.timestamp_type != TimestampType::kNone) text += fmt::format("@{}", record.timestamp);
  return text;
}

class NotedHost : public TaskHost {
 public:
  class Sink : public RecordSink {
   public:
    Sink(Events* events, std::string name) : events_(events), name_(std::move(name)) {}
    Status Write(const Record& record) override {
      if (record.value == "unwritable") return Status::Data(name_ + " cannot take it");
      events_->push_back(name_ + " " + Text(record));
      return Status::Ok();
    }

   private:
    Events* events_;
    std::string name_;
  };

  RecordSink* SinkOf(const TopologyNode& sink) override {
    sinks_.push_back(std::make_unique<Sink>(&events, sink.name));
    return sinks_.back().get();
  }
  Status Send(const Location& to, const Record& record, int32_t partition) override {
    events.push_back(fmt::format("send {} {} {}", to.ToString(), Text(record), partition));
    return Status::Ok();
  }
  void RequestCommit() override { events.push_back("commit"); }
  const Clock& clock() const override { return manual; }

  Events events;
  ManualClock manual{1000};

 private:
  std::vector<std::unique_ptr<Sink>> sinks_;
};

// A processor made of functions; what is not given does as Processor does.
struct Parts {
  std::function<Status(ProcessorContext&)> init;
  std::function<Status(ProcessorContext&, const Record&)> process;
  std::function<Status(ProcessorContext&, const Punctuation&)> punctuate;
  std::function<void(ProcessorContext&)> close;
  std::function<Status(ProcessorContext&)> flush = {};
  std::function<Status(ProcessorContext&)> end_input = {};
};

class FromParts : public Processor {
 public:
  explicit FromParts(Parts parts) : parts_(std::move(parts)) {}
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return parts_.init ? parts_.init(context) : Status::Ok();
  }
  Status Process(const Record& record) override {
    return parts_.process ? parts_.process(*context_, record) : context_->Forward(record);
  }
  Status Punctuate(const Punctuation& punctuation) override {
    return parts_.punctuate ? parts_.punctuate(*context_, punctuation) : Status::Ok();
  }
  Status Flush() override { return parts_.flush ? parts_.flush(*context_) : Status::Ok(); }
  Status EndInput() override {
    return parts_.end_input ? parts_.end_input(*context_) : Status::Ok();
  }
  void Close() override {
    if (parts_.close) parts_.close(*context_);
  }

 private:
  Parts parts_;
  ProcessorContext* context_ = nullptr;
};

inline ProcessorSupplier Make(Parts parts) {
  return [parts] { return std::make_unique<FromParts>(parts); };
}

inline SourceSpec FromFile(std::string name = "in") {
  SourceSpec spec;
  spec.inputs.push_back({Location::Kind::kFile, "", std::move(name)});
  return spec;
}

inline SinkSpec ToFile(std::string name) {
  SinkSpec spec;
  spec.output = {Location::Kind::kFile, "", std::move(name)};
  return spec;
}

// in -> a -> out, and a task of it.
class OneNode {
 public:
  explicit OneNode(Parts parts) {
    TopologyBuilder builder;
    builder.AddSource("in", FromFile())
        .AddProcessor("a", Make(std::move(parts)), {"in"})
        .AddSink("out", ToFile("out"), {"a"});
    task = std::make_unique<Task>(*builder.Build(), 0, "0_0", &host);
  }

  NotedHost host;
  std::unique_ptr<Task> task;
};

inline Record At(int64_t timestamp, std::string_view value = "v") {
  Record record;
  record.value = value;
  record.timestamp = timestamp;
  record.timestamp_type = TimestampType::kCreateTime;
  return record;
}

inline Record Timeless(std::string_view value = "v") {
  Record record;
  record.value = value;
  return record;
}

}  // namespace kstream::task

#endif  // KSTREAM_TESTS_UNIT_TASK_TASK_TESTING_H_
