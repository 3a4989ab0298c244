// FileWorker: what one thread of a run by chunks has of its own: a decoder, outputs, a task, and
// its bad records. Tested by tests/unit/runtime/file_run_test.cc.
#ifndef KSTREAM_RUNTIME_FILE_WORKER_H_
#define KSTREAM_RUNTIME_FILE_WORKER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/status.h"
#include "record/lines.h"
#include "runtime/line_source.h"
#include "runtime/run_state.h"
#include "runtime/thread_outputs.h"
#include "task/bad_records.h"
#include "task/task.h"
#include "transport/file/chunk_reader.h"

namespace kstream::runtime {

class FileWorker final : private task::TaskHost {
 public:
  // `path` outlives the worker.
  FileWorker(RunState* state, OutputFiles* files, std::string_view path, int thread)
      : state_(state), metrics_(state->MetricsOf(thread)), path_(path), outputs_(state, files) {}

  // Opens the outputs and initialises the task.
  Status Open();

  // The lines of a chunk, to be given to Process before the next chunk.
  LineSplitter Prepare(const transport::Chunk& chunk);
  // Decodes and processes one line. Any failure ends the run.
  Status Process(std::string_view line, int64_t number);

  // Counts and logs what has been processed since the last call.
  void Report();
  ThreadMetrics* metrics() { return metrics_; }

  ThreadOutputs* outputs() { return &outputs_; }

 private:
  task::RecordSink* SinkOf(const TopologyNode& sink) override { return outputs_.SinkOf(sink); }
  Status Send(const Location& to, const Record& record, int32_t partition) override {
    return outputs_.Send(to, record, partition);
  }
  void RequestCommit() override {}  // files have no positions to commit
  const kstream::Clock& clock() const override { return *state_->clock; }

  Status Bad(const Record& raw, int64_t number, const Status& why);

  RunState* const state_;
  ThreadMetrics* const metrics_;
  const std::string_view path_;
  ThreadOutputs outputs_;
  std::unique_ptr<LineSource> lines_;
  LineMemory memory_;
  std::unique_ptr<task::BadRecords> bad_records_;
  std::unique_ptr<task::Task> task_;
  Record record_;  // of the line at hand; here, as making one anew for each line costs
  int64_t read_ = 0;
  std::vector<std::string> messages_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_FILE_WORKER_H_
