// PunctuationQueue: the schedules of one task on one clock, earliest due first, in a binary heap.
//
// The rule is Kafka Streams': a schedule that fires in time keeps its phase (next = due + period);
// one that fell a period or more behind fires once for all of that and starts anew from now (next =
// now + period). So what is due next always lies ahead of now, and one round fires each schedule at
// most once. Those due at the same time go in the order in which they were made.
//
// Tested by tests/unit/task/punctuation_test.cc.
#ifndef KSTREAM_TASK_PUNCTUATION_QUEUE_H_
#define KSTREAM_TASK_PUNCTUATION_QUEUE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kstream/processor.h"
#include "topology/timer.h"

namespace kstream::task {

// Belongs to one thread.
class PunctuationQueue {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  explicit PunctuationQueue(PunctuationType type) : type_(type) {}

  // A schedule of node number `node`, due one period after `start`; nullopt: after the time that
  // Start is given. `period` is positive.
  Timer Add(size_t node, std::string_view name, std::chrono::milliseconds period,
            std::optional<int64_t> start);
  // Gives the schedules that were added without one their start.
  void Start(int64_t now);

  // The next schedule that is due, moved to its next time before it fires; nullopt: none is.
  struct Due {
    size_t node;
    Timer timer;
  };
  std::optional<Due> Take(int64_t now);

  // When the earliest is due; kNever: there is none; INT64_MIN: one waits for Start.
  int64_t next();

  // Schedules that are kept, cancelled ones among them for a while.
  size_t size() const { return heap_.size() + waiting_.size(); }

  // Ends the schedules of a node that was closed.
  void Close(size_t node);

 private:
  struct Entry {
    int64_t due;
    uint64_t order;
    size_t node;
    std::shared_ptr<Timer::State> state;
  };
  static bool Later(const Entry& a, const Entry& b) {
    return a.due != b.due ? a.due > b.due : a.order > b.order;
  }
  void Push(Entry entry);
  Entry Pop();
  void Sweep();

  const PunctuationType type_;
  std::vector<Entry> heap_;     // by Later
  std::vector<Entry> waiting_;  // for Start
  uint64_t added_ = 0;
  size_t sweep_at_ = 64;  // size of the heap at which the cancelled ones are thrown out
};

}  // namespace kstream::task

#endif  // KSTREAM_TASK_PUNCTUATION_QUEUE_H_
