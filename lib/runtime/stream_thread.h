// StreamThread: the loop of one thread: poll, process, commit.
//
// It owns its consumers (one a cluster), its producers and its tasks, of every stage, and shares
// nothing that changes with other threads but atomics. With a group it is a member of its own, and
// follows the lead topics alone: partition i of a lead means task i of that stage, and the thread
// then reads all partitions of the task (engine.md, section 1). Assignments come and go between
// polls: a task that arrives gets its positions from the group's commits, one that leaves is
// finished, committed and closed first. Nothing slow happens inside a rebalance callback, and a
// batch is cut to what can be processed in half a second, so a slow stage answers its group.
//
// A process that was stopped for longer than its session has lost its tasks without being told, and
// must not write what it had begun. So the thread looks at the clock wherever it may have been
// stopped, and if too much time has gone with the whole process standing still (see pulse.h), it
// throws away what it holds and ends; a new one takes its place.
//
// What a record costs. From topic to topic through a filter that does not look at the value, 2 M
// records of 128 bytes: 1.15 to 1.4 us of CPU each, where a bare librdkafka loop takes 1.35 to 1.4
// (perf, 2 cores). Of it 37 % go to librdkafka, 34 % to libc (its locks and copies), 19 % to the
// kernel and 7 %, 80 to 95 ns, to all of kstream: about a third of that in taking records out of
// librdkafka, a third in this loop and the task, a third in the operator and the sink.
//
// The loop is a sequence of turns, so that a test can interleave those of several threads in one.
// Tested by tests/unit/runtime/loop_run_test.cc and tests/broker/.
#ifndef KSTREAM_RUNTIME_STREAM_THREAD_H_
#define KSTREAM_RUNTIME_STREAM_THREAD_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/committer.h"
#include "runtime/reader.h"
#include "runtime/restorer.h"
#include "runtime/run_shared.h"
#include "runtime/stage_task.h"
#include "runtime/task_stores.h"
#include "runtime/thread_outputs.h"

namespace kstream::runtime {

class StreamThread final : private task::TaskHost, private CommitHost {
 public:
  // `index` counts the threads of the process from 0.
  StreamThread(RunShared* shared, int index);
  ~StreamThread() override;

  // Runs until the end, a stop or a failure; by then everything done is flushed and committed.
  Status Run();

  // The same in steps: Open, then Turn until it is false or fails, then Finish with what it gave.
  Status Open();
  Result<bool> Turn();
  Status Finish(Status outcome);

  // Whether a task may process what it has queued, and fire, in the turns to come; null: all may.
  // So that tasks can take turns in an order that does not depend on who runs them.
  void Let(std::function<bool(TaskId)> turn) { let_ = std::move(turn); }

  const std::map<TaskId, std::unique_ptr<StageTask>>& tasks() const { return tasks_; }

  // Whether it ended since the process stood still for longer than its session: its tasks have
  // moved, and it has thrown away all that it had begun. Another StreamThread should take its
  // place.
  bool stood_still() const { return stood_still_; }

 private:
  // task::TaskHost
  task::RecordSink* SinkOf(const TopologyNode& sink) override { return outputs_.SinkOf(sink); }
  Status Send(const Location& to, const Record& record, int32_t partition) override {
    return outputs_.Send(to, record, partition);
  }
  void RequestCommit() override { committer_->Request(); }
  const Clock& clock() const override { return *shared_->state->clock; }

  // CommitHost
  Status FlushTasks() override;
  Status SealStores() override;
  Result<std::vector<transport::PartitionOffset>> Positions(bool all) override;
  std::function<void()> WhenCommitted() override;
  Result<bool> KeepStores(bool wait) override;

  // stream_thread.cc: the loop.
  Status OpenReaders();
  Status MakeIngests();
  Result<bool> Step();
  Status FinishEpochs();
  bool Over();
  Status Awake();
  Result<bool> AtEnd();
  Result<bool> AllDone();
  Status Complete(TaskId id);
  void ForgetCompleted();

  // thread_records.cc: what a turn reads and processes.
  Status Read(Reader* reader, std::chrono::milliseconds wait);
  Status TakeRecords(Reader* reader);
  Status TakeEnds(Reader* reader);
  Status Settle();
  Status DrainTasks();
  Status Punctuate();
  Status PauseAndResume(size_t merging);
  Status FollowPause();
  ThreadState AtWork() const { return paused_ ? ThreadState::kPaused : ThreadState::kRunning; }
  std::chrono::milliseconds WaitOf(size_t readers) const;

  // stream_tasks.cc: tasks come and go.
  Status Rebalance();
  Result<bool> Agreed();
  Status AdoptWaiting();
  Status AdoptOwn();
  Status LookAgain(bool soon);
  Status Reconcile();
  Status Adopt(TaskId id);
  Status AdoptRestored(TaskId id, StageTask::Start start, std::unique_ptr<TaskStores> stores);
  Status CheckState(TaskId id, StageTask::Start* start, const TaskStores& stores);
  Status Restore();
  void RelieveStores();
  Status CloseStores(TaskId id);
  Result<StageTask::Start> StartOf(TaskId id);
  Status Place(std::vector<TaskPartition>* partitions);
  StageTask* Find(const transport::TopicPartition& lead) const;
  Status DropRestoring(const std::vector<transport::TopicPartition>& leads);
  Status DropTasks(const std::vector<transport::TopicPartition>& leads, bool commit);
  Status Purge();
  void SetState(ThreadState state);

  // thread_recovery.cc: when an epoch fails.
  bool puts_back() const;
  Status Mend(Status why);
  Status PutBack();
  Status OpenOutputsAnew();
  Result<std::unique_ptr<TaskStores>> StoresOf(TaskId id);

  // thread_report.cc: what it says about itself.
  void Count();
  void ShowLevels();
  void Tell(std::string_view what);

  Reader* ReaderOf(std::string_view cluster);
  // The member of the group, or the first reader.
  Reader* home() { return readers_.front().get(); }

  RunShared* const shared_;
  RunState* const state_;
  const int index_;
  ThreadMetrics* const metrics_;
  ThreadOutputs outputs_;
  std::vector<std::vector<std::unique_ptr<task::Ingest>>> ingests_;  // by stage and source
  std::unique_ptr<task::BadRecords> bad_records_;
  json::Reader json_reader_;
  json::ValueCache cache_;
  std::vector<std::unique_ptr<Reader>> readers_;  // home first
  std::unique_ptr<Committer> committer_;
  std::map<TaskId, std::unique_ptr<TaskStores>> stores_;  // of tasks that have any; outlive them
  std::map<TaskId, std::unique_ptr<StageTask>> tasks_;
  struct Restoring {
    StageTask::Start start;
    std::unique_ptr<TaskStores> stores;
  };
  std::map<TaskId, Restoring> restoring_;                  // tasks that wait for their stores
  std::map<TaskId, std::unique_ptr<TaskStores>> rewound_;  // of tasks that were put back
  Restorer restorer_;
  std::shared_ptr<const RunPlan> plan_;

  std::optional<ThreadState> thread_state_;
  std::string changes_;                            // of the tasks, not told yet
  std::optional<std::chrono::nanoseconds> busy_;   // processing what this turn has read
  bool joined_ = false;                            // the group has given us something, or nothing
  bool agreed_ = false;                            // its members run the same topology
  std::set<transport::TopicPartition> leads_;      // all that are ours
  std::deque<transport::TopicPartition> waiting_;  // of them, those that are not tasks yet
  std::set<TaskId> completed_;                     // told to Ends
  int ends_seen_ = 0;                              // version of Ends
  bool at_end_ = false;                            // counted in RunShared::at_end
  size_t most_;                                    // records of the next poll
  bool more_ = false;                              // tasks have more to process at once
  bool stores_full_ = false;                       // nothing is processed until stores have kept
  bool paused_ = false;                            // nor while the run is paused
  std::function<bool(TaskId)> let_;
  Clock::Instant seen_;  // the last look whether time has passed us by
  bool stood_still_ = false;
  int tries_ = 0;  // since something was committed
  int64_t kept_at_last_try_ = 0;
  // Under exactly-once: bad records of the sealed epoch, and of those committed since the last
  // Count.
  task::BadRecords::Decided sealed_bad_, committed_bad_;
  std::optional<Clock::Instant> next_look_, next_check_, next_purge_, next_show_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_STREAM_THREAD_H_
