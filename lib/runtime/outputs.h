// Outputs: where the sinks of a run write. Files are shared by threads; each thread has producers
// and encoders of its own.
#ifndef KSTREAM_RUNTIME_OUTPUTS_H_
#define KSTREAM_RUNTIME_OUTPUTS_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/run_state.h"
#include "task/task.h"
#include "transport/file/file_output.h"
#include "transport/producer.h"

namespace kstream::runtime {

// The files of a run, opened once. Thread-safe after Open.
class OutputFiles {
 public:
  // Opens every file that a sink or the dead letters name. kUsage when one is also an input.
  Status Open(const RunState& state);
  transport::FileOutput* Find(const std::string& path) const;
  // Whether the reader of some output has gone away.
  bool closed() const;
  Status Close();

 private:
  std::map<std::string, std::unique_ptr<transport::FileOutput>> files_;
};

// Every location that the run writes to, dead letters included, each once.
std::vector<Location> OutputLocations(const RunState& state);

class FileSink;
class TopicSink;

// The sinks of one thread.
class ThreadOutputs {
 public:
  ThreadOutputs(RunState* state, OutputFiles* files);
  ~ThreadOutputs();

  // Makes all sinks and opens their topics. kCluster, kUsage.
  Status Open();

  task::RecordSink* SinkOf(const TopologyNode& node) { return by_node_.at(&node).get(); }
  task::RecordSink* dead_letters() { return dead_letters_.get(); }

  // What has been encoded for files since the last call goes out: at once, or into *parts, one a
  // file sink, for WriteFiles in its turn.
  Status FlushFiles();
  void TakeFiles(std::vector<std::string>* parts);
  Status WriteFiles(const std::vector<std::string>& parts);

  // Records sent from now on carry this tag (see Producer).
  void set_tag(uint32_t tag) { tag_ = tag; }
  uint64_t Pending(uint32_t tag) const;
  // The first delivery failure of any producer.
  Status failure() const;
  // Serves acknowledgements.
  void Poll();
  // Waits for all acknowledgements.
  Status FlushTopics(std::chrono::milliseconds limit);

 private:
  friend class FileSink;
  friend class TopicSink;
  Result<std::unique_ptr<task::RecordSink>> NewSink(const SinkSpec& spec, bool counts);
  Result<transport::Producer*> ProducerOf(const std::string& cluster);

  RunState* const state_;
  OutputFiles* const files_;
  uint32_t tag_ = 0;
  std::map<std::string, std::unique_ptr<transport::Producer>> producers_;  // by cluster
  std::map<const TopologyNode*, std::unique_ptr<task::RecordSink>> by_node_;
  std::unique_ptr<task::RecordSink> dead_letters_;
  std::vector<FileSink*> file_sinks_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_OUTPUTS_H_
