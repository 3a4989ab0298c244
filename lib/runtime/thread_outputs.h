// ThreadOutputs: the sinks of one thread: its producers and its encoders.
//
// Under exactly-once everything that the thread writes (outputs, dead letters, repartition topics,
// changelogs) goes through one producer at home, in transactions that hold the offsets it stands
// for as well. The id of its transactions is the thread's own and stays over restarts, so whoever
// opens it next ends what a former life left open. Outputs are counted when they are committed, and
// what was dropped is given back to --limit.
//
// Otherwise epochs are told apart by tags, and are done when all of theirs is acknowledged. Where
// there are changelogs the producer is idempotent: a value must never land behind a newer one.
// Tested by tests/unit/runtime/committer_test.cc and tests/unit/testdriver/exactly_once_test.cc.
#ifndef KSTREAM_RUNTIME_THREAD_OUTPUTS_H_
#define KSTREAM_RUNTIME_THREAD_OUTPUTS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/status.h"
#include "runtime/outputs.h"
#include "runtime/run_state.h"
#include "store/kept_store.h"
#include "task/task.h"
#include "transport/consumer.h"
#include "transport/producer.h"

namespace kstream::runtime {

class FileSink;
class TopicSink;
class ThreadOutputs;

// What a thread has encoded for one file, and not written yet.
struct EncodedLines {
  std::string lines;
  int64_t records = 0;
};

// One partition of a changelog. Belongs to the thread of its outputs; not to be used after their
// Drop.
class Changelog final : public store::ChangelogSink {
 public:
  Changelog(ThreadOutputs* outputs, transport::Producer* producer,
            transport::Producer::Topic* topic, int32_t partition)
      : outputs_(outputs), producer_(producer), topic_(topic), partition_(partition) {}
  Status Append(const store::Change& change) override;
  // An epoch begins to be sealed.
  void Begin() { sent_.reset(); }
  // Once the epoch is acknowledged: offset of its last record; -1: it sent none.
  int64_t last() const;

 private:
  ThreadOutputs* const outputs_;
  transport::Producer* const producer_;
  transport::Producer::Topic* const topic_;
  const int32_t partition_;
  std::optional<uint32_t> sent_;  // the tag of the epoch that sent something
};

class ThreadOutputs {
 public:
  // `transactional_id`: of the producer at home; empty: no transactions.
  ThreadOutputs(RunState* state, OutputFiles* files, std::string transactional_id = "");
  ~ThreadOutputs();

  // Makes all sinks and opens their topics; begins the first transaction. kCluster, kUsage.
  Status Open();

  // Sends to a topic that no sink names (see ProcessorContext::Send).
  Status Send(const Location& to, const Record& record, int32_t partition);

  // kCluster: the topic is missing.
  Result<std::unique_ptr<Changelog>> OpenChangelog(const std::string& topic, int32_t partition);

  task::RecordSink* SinkOf(const TopologyNode& node) { return by_node_.at(&node).get(); }
  task::RecordSink* dead_letters() { return dead_letters_.get(); }

  // What has been encoded for files since the last call goes out: at once, or into *parts, one a
  // file sink, for WriteFiles in its turn.
  Status FlushFiles();
  void TakeFiles(std::vector<EncodedLines>* parts);
  Status WriteFiles(const std::vector<EncodedLines>& parts);

  // Records sent from now on carry this tag (see Producer).
  void set_tag(uint32_t tag);
  // Whether anything was sent since then.
  bool sent() const { return sent_ > 0; }
  // How many records were ever sent.
  uint64_t sent_ever() const { return sent_ever_ + sent_; }
  uint64_t Pending(uint32_t tag) const;
  // The first failure: of a delivery, of a transaction, or of a write to a file. It never heals, so
  // nothing is committed after it.
  Status failure() const;
  // Whether that failure is over with new producers: Drop, Open, and send again what was not
  // committed.
  bool recoverable() const;

  // The changelogs of all stores: their topics, in the order of the stores.
  std::vector<std::string> Changelogs() const;
  bool journals() const { return !Changelogs().empty(); }

  // Exactly once (see Producer): seals what was sent with this tag together with offsets of the
  // group of `member`; commits it. set_tag comes in between.
  bool transactional() const { return !transactional_id_.empty(); }
  Status Seal(std::vector<transport::PartitionOffset> offsets, transport::Consumer* member);
  Result<bool> Commit(std::chrono::milliseconds wait);
  // So that readers need not wait for the timeout. Nothing can be sent any more.
  Status Abort();

  // How many records went out since the last call, dead letters and what stays inside apart.
  int64_t TakeWritten() { return std::exchange(written_, 0); }
  // Whether --limit has left out an output of the record at hand.
  bool cut() const { return cut_; }
  // Serves acknowledgements.
  void Poll();
  // The same of one cluster, as far as it is written to: what was sent there is under way.
  void Poll(const std::string& cluster);
  // Waits for all acknowledgements. Not with transactions.
  Status FlushTopics(std::chrono::milliseconds limit);
  // Throws away what has not gone out yet, or was not committed; nothing can be sent any more,
  // until Open.
  void Drop();

 private:
  friend class FileSink;
  friend class TopicSink;
  friend class Changelog;
  // Takes one record from --limit; false when nothing is left. Only runs with a limit pay for it.
  bool TakeFromBudget();
  void GiveBackToBudget(int64_t records);
  // A topic that a record or a processor names, looked up once. kRefused: an input reads it.
  Result<transport::Producer::Topic*> TopicNamed(const std::string& cluster, std::string_view name);
  Status SendTo(transport::Producer* producer, transport::Producer::Topic* topic, int32_t partition,
                const Record& record, bool counts, bool dry);
  Status Put(transport::Producer* producer, transport::Producer::Topic* topic, int32_t partition,
             const Record& record);
  Result<std::unique_ptr<task::RecordSink>> NewSink(const SinkSpec& spec, bool counts);
  Result<transport::Producer*> ProducerOf(const std::string& cluster);
  Status BeginTransactions();
  transport::Producer* home() const;

  RunState* const state_;
  OutputFiles* const files_;
  const std::string transactional_id_;
  uint32_t tag_ = 0;
  uint64_t sent_ = 0, sent_ever_ = 0;
  bool cut_ = false;
  int64_t written_ = 0;
  int64_t uncommitted_[2] = {0, 0};  // of transactions: outputs by tag modulo 2
  Status file_failure_;
  std::map<std::string, std::unique_ptr<transport::Producer>> producers_;  // by cluster
  std::map<std::string, std::map<std::string, transport::Producer::Topic*, std::less<>>> topics_;
  std::map<const TopologyNode*, std::unique_ptr<task::RecordSink>> by_node_;
  std::unique_ptr<task::RecordSink> dead_letters_;
  std::vector<FileSink*> file_sinks_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_THREAD_OUTPUTS_H_
