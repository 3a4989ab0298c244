// OnlineCheck: what the clusters say of a topology before it runs: topics that are missing, counts
// of partitions that do not go together, internal topics that somebody has altered, how much there
// is to read.
//
// Of permissions it finds those that asking needs: to describe each topic, its settings and the
// group. Whether records may be read and written, and topics made, brokers tell whoever does it.
#ifndef KSTREAM_ONLINE_CHECK_H_
#define KSTREAM_ONLINE_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kstream/export.h"
#include "kstream/location.h"
#include "kstream/runtime.h"
#include "kstream/status.h"
#include "kstream/topology.h"

namespace kstream {

// A topic that the topology reads or writes.
struct TopicFacts {
  Location topic = {};
  bool input = false;
  std::optional<int32_t> partitions = {};  // nullopt: it is missing
  int64_t records = 0;                     // of an input: offsets from the oldest to the newest
  // Of an input at home: how many of them the application has not committed; nullopt: it has
  // committed nothing, or there is none.
  std::optional<int64_t> lag = {};
  std::string cleanup_policy = {}, retention_ms = {};  // as the broker says them
};

struct OnlineReport {
  std::vector<TopicFacts> topics;     // inputs, then outputs, each once
  std::vector<Status> problems;       // what would end the run, or keep it from its start
  std::vector<std::string> warnings;  // what it would do, and hardly should
};

// Asks and changes nothing. Problems are in the report; the Result fails only where a cluster
// cannot be asked at all (kCluster, kUsage).
KSTREAM_EXPORT Result<OnlineReport> CheckOnline(const Topology& topology,
                                                const RuntimeOptions& options);

}  // namespace kstream

#endif  // KSTREAM_ONLINE_CHECK_H_
