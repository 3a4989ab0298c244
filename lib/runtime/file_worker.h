// FileWorker: what one thread of a run on files has of its own: outputs, a task, and its bad
// records.
#ifndef KSTREAM_RUNTIME_FILE_WORKER_H_
#define KSTREAM_RUNTIME_FILE_WORKER_H_

#include <memory>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/line_source.h"
#include "runtime/outputs.h"
#include "runtime/run_state.h"
#include "task/bad_records.h"
#include "task/task.h"

namespace kstream::runtime {

// A line of a file, as errors write it.
struct LinePlace {
  std::string_view path;
  int64_t line = 0;              // from 0
  std::string ToString() const;  // "orders.ndjson:18", "stdin:18", from 1
};

class FileWorker {
 public:
  FileWorker(RunState* state, OutputFiles* files) : state_(state), outputs_(state, files) {}

  // Opens the outputs and initialises the task.
  Status Open();

  // Decodes and processes one line. Any failure ends the run.
  Status Process(std::string_view line, int64_t number, LineSource* lines);
  // Processes `record` unless `decoded` says that it is bad already. For what turns out bad, `raw`
  // gives the record as it was read.
  template <typename Raw>
  Status Process(const LinePlace& place, const Record& record, const Status& decoded,
                 const Raw& raw) {
    read_++;
    const Status status = decoded.ok() ? task_->Process(0, record) : decoded;
    if (status.ok() || status.code() != StatusCode::kData) return status;
    return Bad(place, raw(), status);
  }

  // Counts and logs what has been processed since the last call.
  void Report();

  ThreadOutputs* outputs() { return &outputs_; }

 private:
  Status Bad(const LinePlace& place, const Record& raw, const Status& why);

  RunState* const state_;
  ThreadOutputs outputs_;
  std::unique_ptr<task::BadRecords> bad_records_;
  std::unique_ptr<task::Task> task_;
  Record record_;  // of the line at hand; here, as making one anew for each line costs
  int64_t read_ = 0;
  std::vector<std::string> messages_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_FILE_WORKER_H_
