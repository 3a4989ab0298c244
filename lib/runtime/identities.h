// Identities: which names of --cluster are one cluster. A topic that is read by one name of a
// cluster and written by another would be read again for ever, so places are compared by what the
// clusters call themselves. Tested by tests/unit/runtime/identities_test.cc.
#ifndef KSTREAM_RUNTIME_IDENTITIES_H_
#define KSTREAM_RUNTIME_IDENTITIES_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "kstream/location.h"
#include "kstream/status.h"
#include "transport/cluster.h"

namespace kstream::runtime {

// Thread-safe, while the map of clusters stays as it is.
class Identities {
 public:
  using Clusters = std::map<std::string, std::unique_ptr<transport::Cluster>>;

  // By name, home is ""; it outlives this.
  explicit Identities(const Clusters* clusters) : clusters_(*clusters) {}

  // The same for all locations of one place: a location with, for the name of its cluster, what is
  // the cluster's own. Home stays "". A cluster is asked once, and only where there are several.
  Result<Location> Of(Location location) const;

 private:
  Result<std::string> IdOf(const std::string& cluster) const;

  const Clusters& clusters_;
  mutable std::mutex mutex_;                        // guards ids_; held while a cluster is asked
  mutable std::map<std::string, std::string> ids_;  // by name
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_IDENTITIES_H_
