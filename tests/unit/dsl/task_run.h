// One stage of a topology in the real task, with sinks that keep what arrives, and a cache of the
// parsed value for each record, as the engine has.
#ifndef KSTREAM_TESTS_UNIT_DSL_TASK_RUN_H_
#define KSTREAM_TESTS_UNIT_DSL_TASK_RUN_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "kstream/topology.h"
#include "record/json_document.h"
#include "task/task.h"

namespace kstream {

// A copy of what arrives, since a record is only a view.
struct Kept {
  explicit Kept(const Record& record)
      : key(record.key),
        value(record.value),
        topic(record.topic),
        partition(record.partition),
        timestamp(record.timestamp) {
    for (const Header& header : record.headers) {
      headers.emplace_back(header.name, std::optional<std::string>(header.value));
    }
  }
  std::optional<std::string> key, value;
  std::string topic;
  int32_t partition;
  int64_t timestamp;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

class KeepingSink : public task::RecordSink {
 public:
  Status Write(const Record& record) override {
    records.emplace_back(record);
    return Status::Ok();
  }
  std::vector<std::string> Values() const {
    std::vector<std::string> values;
    for (const Kept& kept : records) values.push_back(kept.value.value_or("(null)"));
    return values;
  }
  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    for (const Kept& kept : records) keys.push_back(kept.key.value_or("(null)"));
    return keys;
  }
  std::vector<Kept> records;
};

class TaskRun : private task::TaskHost {
 public:
  // `kept`: the stores that the runtime would keep; `stream_time`: what a former task committed.
  explicit TaskRun(const Result<Topology>& topology, size_t stage = 0,
                   const task::Task::KeptStores& kept = {},
                   std::optional<int64_t> stream_time = std::nullopt) {
    cache_.reader = &reader_;
    EXPECT_TRUE(topology.ok()) << topology.status().message();
    if (!topology.ok()) return;
    task::TaskHost* const host = this;
    task_.emplace(*topology, stage, std::to_string(stage) + "_0", host);
    task_->set_stream_time(stream_time);
    const Status status = task_->Init(kept);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  Status Process(Bytes value, Bytes key = std::nullopt, std::span<const Header> headers = {},
                 int64_t timestamp = 1000) {
    Record record;
    record.topic = "in";
    record.partition = 3;
    record.offset = offset;
    record.timestamp = timestamp;
    if (timestamp >= 0) record.timestamp_type = TimestampType::kCreateTime;
    record.value = value;
    record.key = key;
    record.headers = headers;
    cache_.Reset();
    record.cache = &cache_;
    return task_ ? task_->Process(source, record) : Status::Usage("there is no task");
  }

  // The source that Process gives its records to.
  size_t source = 0;
  // Of the next record; -1: none.
  int64_t offset = -1;

  // What came to the sink node `name`.
  const KeepingSink& out(const std::string& name = "out") { return sinks_[name]; }
  task::Task& task() { return *task_; }
  // A commit point.
  Status Flush() { return task_->Flush(); }
  // The end of all input.
  Status End() {
    const Status ended = task_->EndInput();
    return ended.ok() ? task_->Flush() : ended;
  }
  // Lets time pass, and fires what is due by the wall clock.
  Status Pass(std::chrono::milliseconds by) {
    clock_.Advance(by);
    return task_->Punctuate();
  }

 private:
  task::RecordSink* SinkOf(const TopologyNode& sink) override { return &sinks_[sink.name]; }
  Status Send(const Location&, const Record&, int32_t) override {
    return Status::Usage("no operator sends");
  }
  void RequestCommit() override {}
  const Clock& clock() const override { return clock_; }

  ManualClock clock_;
  json::Reader reader_;
  json::ValueCache cache_;
  std::map<std::string, KeepingSink> sinks_;
  std::optional<task::Task> task_;
};

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_DSL_TASK_RUN_H_
