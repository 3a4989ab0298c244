// Processor: a node of a topology (KIP-28). Each task has processors of its own, so one is never
// called by two threads at once and needs no locks.
//
// Life: supplier() -> Init -> Process / Punctuate / Flush ... -> EndInput? -> Close. After a
// failure of Init only Close is called.
//
// Failures name their node: what a processor returns gets "node 'NAME': " before its message, and
// an exception that leaves it is caught by its task and is a failure too (kData), "node 'NAME'
// threw: ...". So are sinks. Of nodes that hand a failure through only the innermost is named. A
// supplier may ask for failures without the name (ProcessorSupplier::Unnamed).
#ifndef KSTREAM_PROCESSOR_H_
#define KSTREAM_PROCESSOR_H_

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kstream/export.h"
#include "kstream/location.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "kstream/store.h"

namespace kstream {

// Which clock a schedule goes by. Stream time is the largest timestamp that the task has processed:
// silence does not move it. The wall clock moves in silence too.
enum class PunctuationType : uint8_t { kStreamTime, kWallClockTime };

// A schedule of a processor, as a handle: copies are the same schedule, and a default one is none.
// It may outlive the processor. Belongs to the task's thread.
class KSTREAM_EXPORT Timer {
 public:
  struct State;

  Timer() = default;
  explicit Timer(std::shared_ptr<State> state);

  // Ends the schedule; a second time is nothing. kUsage, naming the node, after the node was
  // closed.
  Status Cancel();
  bool operator==(const Timer&) const = default;

 private:
  std::shared_ptr<State> state_;
};

// One firing of a schedule.
struct Punctuation {
  PunctuationType type = PunctuationType::kStreamTime;
  int64_t time = 0;  // ms since the epoch: the stream time, or the wall clock's
  Timer timer;       // whose turn it is
};

// What a processor may do. Owned by the task; valid from Init until Close returns, on the task's
// thread only. In Close, and after it, what sends or schedules is refused (kUsage, naming the
// node).
class KSTREAM_EXPORT ProcessorContext {
 public:
  virtual ~ProcessorContext();

  // Hands a record to every child, or to the child with that name, before it returns. A failure is
  // the processor's to return: it fails the record that is being processed. Records forwarded from
  // Punctuate without a timestamp get the punctuation's time. kUsage in Init: the children are not
  // ready before their parents.
  virtual Status Forward(const Record& record) = 0;
  virtual Status Forward(const Record& record, std::string_view child) = 0;

  // Sends to a topic that is no sink of the topology, as a sink would: the epoch's offsets are
  // committed only once it is acknowledged. `partition` -1: by the partitioner. kUsage: `to` is not
  // a topic; kRefused: this topology reads it; kCluster: it does not exist.
  virtual Status Send(const Location& to, const Record& record, int32_t partition = -1) = 0;

  // Calls Punctuate every `period` from now on: by stream time first when the record that moved it
  // one period past the first record has been processed; several periods at once fire once. kUsage
  // when the period is not positive.
  virtual Result<Timer> Schedule(std::chrono::milliseconds period, PunctuationType type) = 0;

  // Asks for a commit soon, before the interval is over; it comes after the record at hand.
  virtual void Commit() = 0;

  // The record that the task is processing as its source read it: cluster, topic, partition,
  // offset, timestamp, headers. Null in Init, Punctuate and Close.
  virtual const Record* source_record() const = 0;

  // The largest timestamp processed by the task, ms since the epoch; nullopt before the first.
  virtual std::optional<int64_t> stream_time() const = 0;
  // The stream time that the next owner of the task would begin with, should this one end now: it
  // lacks what is not committed yet. Where no one could go on (a run without an app), what has been
  // written counts as committed.
  virtual std::optional<int64_t> committed_stream_time() const = 0;
  // Moves stream time on, if `time` is later: by one that has done, or emitted, what was to wait
  // for it. Timers that it makes due fire with the next record or by the wall clock.
  virtual void AdvanceStreamTime(int64_t time) = 0;
  // Whether the run ends here for the task (RuntimeOptions::exit_at_end): it has processed all that
  // there was, and what is open now stays so.
  virtual bool at_end() const = 0;
  virtual int64_t wall_clock_time() const = 0;  // ms since the epoch

  // A store that AddStore connected to this node, valid until Close. kUsage otherwise.
  virtual Result<StateStore*> Store(std::string_view name) = 0;

  // The node's own name, and the task's: "<stage>_<number>".
  virtual std::string_view node() const = 0;
  virtual std::string_view task() const = 0;
};

class KSTREAM_EXPORT Processor {
 public:
  virtual ~Processor();

  // Called once before the first record. The context stays valid until Close.
  virtual Status Init(ProcessorContext& context);
  // `record` is a view that is valid during the call. kData: the record is bad, and the error
  // policy of the stage decides; any other failure ends the stage.
  virtual Status Process(const Record& record) = 0;
  // A timer of this processor is due. Failures as of Process; a bad record is then one that carries
  // the punctuation's time and nothing else.
  virtual Status Punctuate(const Punctuation& punctuation);
  // A commit point is near: forward, and put into stores, what was held back since the last one.
  // Called between records, parents first, before the positions of the task are taken; what fails
  // ends the stage.
  virtual Status Flush();
  // Nothing more comes, ever, and the run keeps no state for another: files have ended, or the run
  // has stopped at the end without an app; or it was told to do as if
  // (RuntimeOptions::close_at_end). Called once, after the last record and before the last Flush.
  virtual Status EndInput();
  // Children are closed before their parents.
  virtual void Close();
};

// Makes a fresh processor for each task. Called from several threads.
struct ProcessorSupplier {
  ProcessorSupplier() = default;
  template <std::invocable Make>
  requires std::convertible_to<std::invoke_result_t<Make>, std::unique_ptr<Processor>>
  // `description`: what it does, one line, such as "filter .amount > 100". It is printed by
  // Topology::Describe and is part of Topology::Hash: two programs that do different things should
  // differ in it.
  ProcessorSupplier(Make make, std::string description = {})  // NOLINT(google-explicit-constructor)
      : make(std::move(make)), description(std::move(description)) {}

  std::unique_ptr<Processor> operator()() const { return make(); }
  explicit operator bool() const { return static_cast<bool>(make); }

  // The same, for a processor that keeps nothing between records and sets no timers: then records
  // of one partition may be spread over several instances, such as the chunks of a file.
  ProcessorSupplier Stateless() && {
    stateless = true;
    return std::move(*this);
  }

  // The same, for the one processor of a small application: what it or a sink returns as a failure
  // says by itself what failed. (Sinks keep their names where any other processor has one.)
  ProcessorSupplier Unnamed() && {
    unnamed = true;
    return std::move(*this);
  }

  std::function<std::unique_ptr<Processor>()> make;
  std::string description;
  bool stateless = false;
  bool unnamed = false;
};

}  // namespace kstream

#endif  // KSTREAM_PROCESSOR_H_
