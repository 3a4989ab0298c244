// FileRun: a stage on one file by chunks, with as many threads as are wanted.
//
// A file of lines is cut into chunks. Each thread takes the next chunk, processes it with a task of
// its own and writes the result when its turn comes, so the output is the same bytes for every
// number of threads. That is for stages of which each line is a work of its own; all others read
// files through FileCluster. Tested by tests/unit/runtime/file_run_test.cc and tests/system/.
#ifndef KSTREAM_RUNTIME_FILE_RUN_H_
#define KSTREAM_RUNTIME_FILE_RUN_H_

#include "kstream/status.h"
#include "runtime/outputs.h"
#include "runtime/run_state.h"

namespace kstream::runtime {

// Whether RunByChunks gives what a run in order would: one stage that keeps nothing, and reads one
// file in a format whose lines stand alone, without an extractor (which sees the times before).
bool MayRunByChunks(const RunState& state);

// Opens the input, then the outputs. Runs to the end of the input, a stop, a limit or a failure;
// then everything done has been written.
Status RunByChunks(RunState* state, OutputFiles* files);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_FILE_RUN_H_
