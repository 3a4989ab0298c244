#include "runtime/start_position.h"

#include <fmt/format.h>

#include "base/log.h"

namespace kstream::runtime {

Result<int64_t> StartPosition(const RunState& state, const TaskPartition& partition,
                              const transport::Admin::Watermarks& log, int64_t from) {
  const int64_t committed = partition.given_out;
  if (committed == transport::kNoOffset) return from;
  if (committed >= log.low && committed <= log.high) return committed;
  const InputPartition& input = partition.input;
  const std::string what =
      committed < log.low
          ? fmt::format("{}[{}]: committed {}, log starts at {}, {} records gone", input.topic,
                        input.partition, committed, log.low, log.low - committed)
          : fmt::format("{}[{}]: committed {}, log ends at {}: the topic was made anew",
                        input.topic, input.partition, committed, log.high);
  if (!state.options.from_given) {
    return Status::Cluster(what + ": say where to go on with --from, such as --from beginning");
  }
  Log(LogLevel::kWarning, fmt::format("{}: going on at {}", what, from));
  return from;
}

}  // namespace kstream::runtime
