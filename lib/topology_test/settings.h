// Settings: under what a case runs: variables of the topology, options of the run by the names of
// their flags, partitions, the clock. Those of a case stand over those of the file.
#ifndef KSTREAM_TOPOLOGY_TEST_SETTINGS_H_
#define KSTREAM_TOPOLOGY_TEST_SETTINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/runtime.h"
#include "kstream/status.h"
#include "topology_file/fields.h"

namespace kstream::topology_test {

struct Settings {
  struct Option {
    std::string value;
    topology_file::FileValue at;
  };
  struct Partitions {
    int32_t count;
    topology_file::FileValue at;  // the name of the topic
  };

  std::map<std::string, Option> set = {};             // ${NAME} of the topology
  std::map<std::string, Option> options = {};         // by name of flag
  std::map<std::string, Partitions> partitions = {};  // by topic
  int32_t default_partitions = 1;
  std::set<std::string> clusters = {};  // other than home
  std::optional<int64_t> now = {};      // of the clock at the start, ms since the epoch

  // Whether a test may have this option of a run.
  static bool Has(std::string_view option);

  // Takes what `fields` says of these. kExpression.
  Status Take(topology_file::Fields* fields);
  // kExpression, at the option that has a value which is none.
  Status Apply(RuntimeOptions* runtime) const;
  // Whether the topology is the same under both.
  bool BuildsLike(const Settings& other) const;
};

}  // namespace kstream::topology_test

#endif  // KSTREAM_TOPOLOGY_TEST_SETTINGS_H_
