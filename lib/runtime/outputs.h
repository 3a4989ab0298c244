// Outputs: where the sinks of a run write. Files are shared by threads; each thread has producers
// and encoders of its own.
#ifndef KSTREAM_RUNTIME_OUTPUTS_H_
#define KSTREAM_RUNTIME_OUTPUTS_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/status.h"
#include "runtime/run_state.h"
#include "store/kept_store.h"
#include "task/task.h"
#include "transport/file/file_output.h"
#include "transport/producer.h"

namespace kstream::runtime {

// The files of a run, opened once. Thread-safe after Open.
class OutputFiles {
 public:
  // Opens every file that a sink or the dead letters name, and empties them once all are open;
  // a run with an --app on topics adds to them instead.
  // kUsage when one file is two outputs, or an input too, by whatever names.
  Status Open(const RunState& state);
  transport::FileOutput* Find(const std::string& path) const;
  // Whether the reader of some output has gone away.
  bool closed() const;
  Status Close();

 private:
  std::map<std::string, std::unique_ptr<transport::FileOutput>> files_;
};

// The location of every sink, dead letters included, resolved.
std::vector<Location> SinkLocations(const RunState& state);

// What a thread has encoded for one file, and not written yet.
struct EncodedLines {
  std::string lines;
  int64_t records = 0;
};

// Creates the missing topics among the outputs, as --create-output says, and opens the files. To be
// called once the inputs are known to be there: a run that cannot read must not have touched an
// output.
Status OpenOutputs(const RunState& state, OutputFiles* files);

class FileSink;
class TopicSink;
class ThreadOutputs;

// One partition of a changelog. Belongs to the thread of its outputs, which outlive it.
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

// The sinks of one thread.
class ThreadOutputs {
 public:
  ThreadOutputs(RunState* state, OutputFiles* files);
  ~ThreadOutputs();

  // Makes all sinks and opens their topics. kCluster, kUsage.
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
  void set_tag(uint32_t tag) { tag_ = tag; }
  uint64_t Pending(uint32_t tag) const;
  // The first failure: of a delivery, or of a write to a file. It never heals, so nothing is
  // committed after it.
  Status failure() const;
  // How many records went out since the last call, dead letters and what stays inside apart.
  int64_t TakeWritten() { return std::exchange(written_, 0); }
  // Whether --limit has left out an output of the record at hand.
  bool cut() const { return cut_; }
  // Serves acknowledgements.
  void Poll();
  // The same of one cluster, as far as it is written to: what was sent there is under way.
  void Poll(const std::string& cluster);
  // Waits for all acknowledgements.
  Status FlushTopics(std::chrono::milliseconds limit);
  // Throws away what has not gone out yet; nothing can be sent any more.
  void Drop();

 private:
  friend class FileSink;
  friend class TopicSink;
  friend class Changelog;
  // Takes one record from --limit; false when nothing is left. Only runs with a limit pay for it.
  bool TakeFromBudget();
  void GiveBackToBudget();
  // A topic that a record or a processor names, looked up once. kRefused: an input reads it.
  Result<transport::Producer::Topic*> TopicNamed(const std::string& cluster, std::string_view name);
  Status SendTo(transport::Producer* producer, transport::Producer::Topic* topic, int32_t partition,
                const Record& record, bool counts, bool dry);
  Result<std::unique_ptr<task::RecordSink>> NewSink(const SinkSpec& spec, bool counts);
  Result<transport::Producer*> ProducerOf(const std::string& cluster);

  RunState* const state_;
  OutputFiles* const files_;
  uint32_t tag_ = 0;
  bool cut_ = false;
  int64_t written_ = 0;
  Status file_failure_;
  std::map<std::string, std::unique_ptr<transport::Producer>> producers_;  // by cluster
  std::map<std::string, std::map<std::string, transport::Producer::Topic*, std::less<>>> topics_;
  std::map<const TopologyNode*, std::unique_ptr<task::RecordSink>> by_node_;
  std::unique_ptr<task::RecordSink> dead_letters_;
  std::vector<FileSink*> file_sinks_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_OUTPUTS_H_
