// Reader: the consumer of one cluster in one thread, and who takes the records of each partition.
//
// Several tasks may read one partition (a broadcast input), and several sources of one task too: it
// is then read from where the one furthest back stands, and the others leave alone what they have
// had. Tested by tests/unit/runtime/loop_run_test.cc.
#ifndef KSTREAM_RUNTIME_READER_H_
#define KSTREAM_RUNTIME_READER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/stage_task.h"
#include "transport/consumer.h"

namespace kstream::runtime {

// Belongs to one thread.
class Reader {
 public:
  struct Taker {
    StageTask* task;
    size_t partition;  // its number in the task
  };
  using Takers = std::vector<Taker>;

  Reader(std::string cluster, std::unique_ptr<transport::Consumer> consumer)
      : cluster_(std::move(cluster)), consumer_(std::move(consumer)) {}

  const std::string& cluster() const { return cluster_; }
  transport::Consumer* consumer() { return consumer_.get(); }

  // Fetches up to `most` records. What queued records point into stays alive.
  Status Poll(std::chrono::milliseconds wait, size_t most);
  transport::Batch& batch() { return *owned_->batch; }
  const std::shared_ptr<OwnedBatch>& owned() const { return owned_; }

  // Begins to read for the task's partitions from number `first` on that lie in this cluster.
  Status Add(StageTask* task, size_t first = 0);
  // Forgets the task; gives the partitions that nobody reads any more, which are still assigned.
  std::vector<transport::TopicPartition> Remove(const StageTask* task);

  // Null or empty: nobody wants it.
  const Takers* TakersOf(const Record& record);
  const Takers* TakersOf(const transport::TopicPartition* partition);  // the same object each time
  const Takers* TakersOf(const transport::TopicPartition& partition) const;

  // Stops what `full` says of every taker, starts again what nobody is full of.
  enum class Wish { kPause, kResume, kNone };
  Status PauseAndResume(const std::function<Wish(const Taker&)>& wish);
  size_t paused() const;

 private:
  struct Partition {
    Takers takers;
    bool paused = false;
  };

  const std::string cluster_;
  const std::unique_ptr<transport::Consumer> consumer_;
  std::shared_ptr<OwnedBatch> owned_;
  std::map<transport::TopicPartition, Partition> partitions_;
  // Records come in runs of one partition: the last look-up serves nearly all.
  const void* last_topic_ = nullptr;
  int32_t last_partition_ = -1;
  const Takers* last_takers_ = nullptr;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_READER_H_
