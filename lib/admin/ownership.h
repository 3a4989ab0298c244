// Ownership: whose an internal topic is. The manifest that lists it says so, and nothing else: a
// name that begins with an application's may be that of a neighbour ("billing" and "billing-eu"),
// or of a user's own topic. Tested by tests/unit/admin/reset_test.cc.
#ifndef KSTREAM_ADMIN_OWNERSHIP_H_
#define KSTREAM_ADMIN_OWNERSHIP_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kstream/status.h"
#include "transport/cluster.h"

namespace kstream::admin {

// Whether the topic is called as an internal one of the application could be.
bool LooksInternal(std::string_view app, std::string_view topic);

// The other application whose manifest lists the topic; nullopt: none does. kCluster, kState.
Result<std::optional<std::string>> OtherOwner(transport::Cluster* home, const Clock* clock,
                                              std::string_view app, std::string_view topic);

// Topics that look like internal ones of the application, and that no other one's manifest lists.
Result<std::vector<std::string>> Unclaimed(transport::Cluster* home, const Clock* clock,
                                           std::string_view app);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_OWNERSHIP_H_
