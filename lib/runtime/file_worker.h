// FileWorker: what one thread of a run by chunks has of its own: outputs, a task, and its bad
// records. Tested by tests/unit/runtime/file_run_test.cc.
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

class FileWorker {
 public:
  FileWorker(RunState* state, OutputFiles* files) : state_(state), outputs_(state, files) {}

  // Opens the outputs and initialises the task.
  Status Open();

  // Decodes and processes one line. Any failure ends the run.
  Status Process(std::string_view line, int64_t number, LineSource* lines, LineMemory* memory);

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
