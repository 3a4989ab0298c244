// TopologyNames: what a topology reads, writes and keeps, so that a name in a test file that is
// none of these is told before anything runs.
#ifndef KSTREAM_TOPOLOGY_TEST_NAMES_H_
#define KSTREAM_TOPOLOGY_TEST_NAMES_H_

#include <set>
#include <string>
#include <vector>

#include "kstream/location.h"
#include "kstream/runtime.h"
#include "kstream/status.h"
#include "kstream/topology.h"
#include "topology_test/test_file.h"

namespace kstream::topology_test {

class TopologyNames {
 public:
  TopologyNames(const Topology& topology, const RuntimeOptions& runtime);

  // kExpression, at the name that the topology does not have.
  Status Check(const Case& test) const;
  // Topics that some pattern reads, of those that the case writes to: nothing else names them.
  std::vector<std::string> Matched(const Case& test) const;

 private:
  Status CheckInput(const Input& input, const Settings& settings) const;
  Status CheckOutput(const Name& name) const;
  Status CheckStore(const Name& name) const;
  Status CheckTopic(const Name& name) const;
  bool Matches(const std::string& topic) const;

  std::set<std::string> inputs_, outputs_, stores_;  // topics of other clusters as "cluster:topic"
  std::vector<Location> patterns_;
  bool any_output_ = false;  // records name their topics
  std::string internal_;     // what names of internal topics begin with
};

}  // namespace kstream::topology_test

#endif  // KSTREAM_TOPOLOGY_TEST_NAMES_H_
