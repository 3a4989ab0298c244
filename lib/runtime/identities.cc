#include "runtime/identities.h"

#include <algorithm>
#include <utility>

namespace kstream::runtime {
namespace {

// The engine's own, in this process, have names that no user's cluster has.
bool IsUsers(const std::string& cluster) { return !cluster.starts_with('<'); }

}  // namespace

Result<Location> Identities::Of(Location location) const {
  const std::string& cluster = location.cluster;
  if (!location.is_topic() || cluster.empty() || !IsUsers(cluster) ||
      !clusters_.contains(cluster)) {
    return location;
  }
  const auto users = std::count_if(clusters_.begin(), clusters_.end(),
                                   [](auto& entry) { return IsUsers(entry.first); });
  if (users < 2) return location;
  KSTREAM_ASSIGN_OR_RETURN(std::string id, IdOf(cluster));
  if (clusters_.contains("")) {
    KSTREAM_ASSIGN_OR_RETURN(const std::string home, IdOf(""));
    if (id == home) id.clear();
  }
  location.cluster = std::move(id);
  return location;
}

Result<std::string> Identities::IdOf(const std::string& cluster) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = ids_.find(cluster); found != ids_.end()) return found->second;
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, clusters_.at(cluster)->NewAdmin());
  KSTREAM_ASSIGN_OR_RETURN(std::string id, admin->ClusterId());
  // One without a name is nobody's twin.
  if (id.empty()) id = cluster;
  return ids_.emplace(cluster, std::move(id)).first->second;
}

}  // namespace kstream::runtime
