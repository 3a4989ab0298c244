// StageThread: the loop of one thread of a stage on Kafka: poll, process, commit.
//
// It owns its consumers (one a cluster), its producers and its tasks, and shares nothing that
// changes with other threads but atomics. Assignments come and go between polls: a task that
// arrives gets its positions from the group's commits, one that leaves is finished, committed and
// closed first. Tested by tests/unit/runtime/kafka_run_test.cc and tests/broker/.
#ifndef KSTREAM_RUNTIME_STAGE_THREAD_H_
#define KSTREAM_RUNTIME_STAGE_THREAD_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/committer.h"
#include "runtime/outputs.h"
#include "runtime/partition_plan.h"
#include "runtime/run_state.h"
#include "runtime/stage_task.h"

namespace kstream::runtime {

// What the threads of a Kafka run share beside RunState.
struct KafkaShared {
  RunState* state;
  OutputFiles* files;
  PartitionPlan plan;
  std::mutex admin_mutex;  // guards admins
  std::map<std::string, std::unique_ptr<transport::Admin>> admins;
};

class StageThread {
 public:
  StageThread(KafkaShared* shared, int index);
  ~StageThread();

  // Runs until the end, a stop or a failure; by then everything done is flushed and committed.
  Status Run();

 private:
  // The consumer of one cluster, and who takes the records of each of its partitions.
  struct Reader {
    std::string cluster;
    std::unique_ptr<transport::Consumer> consumer;
    std::shared_ptr<OwnedBatch> owned;
    std::map<transport::TopicPartition, std::pair<StageTask*, size_t>> takers;
    // Records come in runs of one partition: the last look-up serves nearly all.
    const char* last_topic = nullptr;
    int32_t last_partition = -1;
    std::pair<StageTask*, size_t> last_taker;

    std::pair<StageTask*, size_t> TakerOf(const Record& record);
  };

  bool grouped() const { return !shared_->state->options.app.empty(); }
  Status Open();
  Status OpenReaders();
  Status AssignAll();
  Status Loop();
  bool Ended();
  bool GroupReachedEnds();

  Status Turn(Reader* reader, std::chrono::milliseconds wait);
  Status TakeRecords(Reader* reader);
  Status Rebalance(Reader* reader);
  Status Adopt(const std::string& name, std::vector<InputPartition> partitions);
  Status DropTasks(const std::vector<transport::TopicPartition>& leads, bool commit,
                   Reader* reader);
  Result<std::vector<TaskPartition>> StartPositions(const std::vector<InputPartition>& partitions);
  Result<int64_t> CheckCommitted(const InputPartition& input, int64_t committed, int64_t from);
  Status PauseAndResume();

  std::vector<transport::PartitionOffset> Positions(bool all);

  KafkaShared* const shared_;
  const int index_;
  ThreadOutputs outputs_;
  std::unique_ptr<task::Ingest> ingest_;
  std::unique_ptr<task::BadRecords> bad_records_;
  json::Reader json_reader_;
  json::ValueCache cache_;
  std::vector<std::unique_ptr<Reader>> readers_;  // home first
  std::map<std::string, std::unique_ptr<StageTask>> tasks_;
  std::unique_ptr<Committer> committer_;
  Clock::time_point next_end_check_{};
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_STAGE_THREAD_H_
