// FileRun: a stage on files and pipes.
//
// One file of lines is cut into chunks. Each thread takes the next chunk, processes it with a task
// of its own and writes the result when its turn comes, so the output is the same bytes for every
// number of threads. Several inputs, csv and tsv are read record by record by one thread, merged by
// timestamp. Tested by tests/unit/runtime/file_run_test.cc and tests/system/.
#ifndef KSTREAM_RUNTIME_FILE_RUN_H_
#define KSTREAM_RUNTIME_FILE_RUN_H_

#include "kstream/status.h"
#include "runtime/outputs.h"
#include "runtime/run_state.h"

namespace kstream::runtime {

// Opens inputs, then outputs. Runs to the end of the inputs, a stop, a limit or a failure; then
// everything done has been written.
Status RunOnFiles(RunState* state, OutputFiles* files);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_FILE_RUN_H_
