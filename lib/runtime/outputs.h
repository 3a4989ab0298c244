// Outputs: what the sinks of a run write to: its files, shared by all threads, and its topics, to
// which each thread has producers of its own (thread_outputs.h).
#ifndef KSTREAM_RUNTIME_OUTPUTS_H_
#define KSTREAM_RUNTIME_OUTPUTS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/run_state.h"
#include "transport/file/file_output.h"

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

// Creates a topic that is missing, if --create-output says so.
Status CreateOutput(const RunState& state, const std::string& cluster, const std::string& topic);

// Creates the missing topics among the outputs, and opens the files. To be called once the inputs
// are known to be there: a run that cannot read must not have touched an output.
Status OpenOutputs(const RunState& state, OutputFiles* files);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_OUTPUTS_H_
