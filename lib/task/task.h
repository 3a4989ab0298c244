// Task: one copy of a stage's processors and stores, fed by one thread, one record at a time.
//
// The hot path is a chain of virtual calls: source -> Process -> Forward -> ... ->
// RecordSink::Write. No record is queued or copied in between. Tested by
// tests/unit/task/task_test.cc and punctuation_test.cc.
#ifndef KSTREAM_TASK_TASK_H_
#define KSTREAM_TASK_TASK_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "kstream/topology.h"
#include "task/punctuation_queue.h"
#include "topology/graph.h"

namespace kstream::task {

// Where the records of one sink go. Belongs to one thread; outlives the task.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // Takes what it needs of `record` before it returns. kData: this record cannot be written.
  virtual Status Write(const Record& record) = 0;
};

// What a task asks of the thread that runs it; outlives the task.
class TaskHost {
 public:
  virtual ~TaskHost() = default;
  // Asked once for each sink node of the task.
  virtual RecordSink* SinkOf(const TopologyNode& sink) = 0;
  // ProcessorContext::Send and Commit.
  virtual Status Send(const Location& to, const Record& record, int32_t partition) = 0;
  virtual void RequestCommit() = 0;
  virtual const Clock& clock() const = 0;
};

class Task {
 public:
  // Task "<stage>_<number>" of stage number `stage` of the topology.
  Task(const Topology& topology, size_t stage, std::string name, TaskHost* host);
  ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // The stores that the runtime keeps, by name; each outlives the task's Close.
  using KeptStores = std::map<std::string, StateStore*, std::less<>>;

  // Opens the stores, then initialises the processors, parents first. On failure the task may only
  // be closed and destroyed. kExpression: a store that the runtime is to keep is not in `kept`.
  Status Init(const KeptStores& kept = {});

  // Runs a record through everything below source number `source` (its place in
  // TopologyStage::sources), then moves stream time and fires what it made due. kData: the record
  // is bad, or a punctuation is (failed_punctuation tells); anything else ends the stage. A bad
  // record moves no time.
  //
  // `read` is the record as it was read, for ProcessorContext::source_record.
  Status Process(size_t source, const Record& record, const Record& read);
  Status Process(size_t source, const Record& record) { return Process(source, record, record); }

  // Fires the wall-clock schedules that are due. A failure as of Process: then the rest of what is
  // due has not fired yet, on either clock, and the caller whose policy takes the failure calls
  // this until it is ok:
  //
  //   for (Status s = task.Process(0, record, read); !s.ok(); s = task.Punctuate()) {
  //     if (s.code() != kData) return s;
  //     const Record* punctuation = task.failed_punctuation();
  //     ... Handle(punctuation ? *punctuation : read, ...)
  //   }
  Status Punctuate();
  // After a failure of Process or Punctuate: the punctuation that failed, as a record that carries
  // its time and nothing else; null when it was the record. Until the next call.
  const Record* failed_punctuation() const { return failed_ ? &*failed_ : nullptr; }
  // Processor::Flush and EndInput of every node, parents first. A failure, of whatever code, ends
  // the stage.
  Status Flush();
  Status EndInput();
  // The run has an end, and this task has come to it.
  void MarkAtEnd() { at_end_ = true; }

  // The time of what the task is doing: of the record or the punctuation at hand, else stream time;
  // 0 before the first.
  int64_t event_time() const;

  // When the next wall-clock schedule is due, ms since the epoch; INT64_MAX: there is none.
  int64_t next_wall_clock_punctuation() const;

  // The largest timestamp processed; nullopt before the first. Set to what was committed before
  // the first record.
  std::optional<int64_t> stream_time() const;
  void set_stream_time(std::optional<int64_t> time);
  // Moves it on, without a record. What that makes due fires with the next record or Punctuate.
  void AdvanceStreamTime(int64_t time) { stream_time_ = std::max(stream_time_, time); }
  // The stream time of a commit point is committed now.
  void Committed(int64_t stream_time) {
    committed_stream_time_ = std::max(committed_stream_time_.value_or(stream_time), stream_time);
  }

  // How many timers have fired since the last call.
  int64_t TakePunctuations() { return std::exchange(punctuations_, 0); }

  // A store of the stage by name; null: there is none.
  StateStore* store(std::string_view name) const;

  // Closes the processors, children first, then the stores, all of them whatever fails; the first
  // failure is returned, further ones are logged. Again is nothing. Also done by the destructor,
  // which logs what fails.
  Status Close();

  const std::string& name() const { return name_; }

 private:
  class Node;
  // What the task is doing. All that is not kProcessing is off the hot path.
  enum class Phase : uint8_t { kProcessing, kOpening, kPunctuating, kClosing, kClosed };
  static constexpr int64_t kNoTime = INT64_MIN;

  bool closing() const { return phase_ >= Phase::kClosing; }
  Status OpenStores(const KeptStores& kept);
  Result<StateStore*> OpenStore(const TopologyStore& spec, const KeptStores& kept);
  Timer Schedule(size_t node, std::chrono::milliseconds period, PunctuationType type);
  Status FireStreamTime();
  Status Fire(PunctuationQueue* timers, PunctuationType type, int64_t now);

  Topology topology_;  // keeps the graph that nodes point into
  const TopologyStage& stage_;
  std::string name_;
  TaskHost* const host_;
  std::vector<StateStore*> stores_;                    // parallel to the stage's, as far as open
  std::vector<std::unique_ptr<StateStore>> supplied_;  // those of them that suppliers gave
  std::vector<std::unique_ptr<Node>> nodes_;           // parallel to the stage's
  std::vector<Node*> sources_;
  // Whether no processor of the topology has its name told, and so no sink has, either.
  const bool unnamed_;
  size_t open_ = 0;  // nodes [0, open_) have been initialised

  Phase phase_ = Phase::kOpening;
  const Record* source_record_ = nullptr;
  int64_t record_time_ = 0;  // of the record at hand, as its source made it
  int64_t stream_time_ = kNoTime;
  std::optional<int64_t> committed_stream_time_;
  bool at_end_ = false;
  // The stream time at which Process has timers to look after: when the first is due, and kNoTime
  // while one waits for its start.
  int64_t stream_due_ = PunctuationQueue::kNever;
  std::unique_ptr<PunctuationQueue> stream_timers_, wall_timers_;
  int64_t punctuation_time_ = 0;
  int64_t punctuations_ = 0;
  std::optional<Record> failed_;
  Status blamed_;  // the last failure that says whose it is: see node.h
};

}  // namespace kstream::task

#endif  // KSTREAM_TASK_TASK_H_
