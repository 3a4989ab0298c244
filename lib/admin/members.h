// Members: who of an application is alive, for those who may change nothing while it runs. Tested
// by tests/unit/admin/reset_test.cc.
#ifndef KSTREAM_ADMIN_MEMBERS_H_
#define KSTREAM_ADMIN_MEMBERS_H_

#include <string>

#include "kstream/properties.h"
#include "kstream/status.h"
#include "transport/admin.h"

namespace kstream::admin {

// kRefused: the group has members, which are listed. `home` says how long brokers wait for one that
// was stopped.
Status CheckNoMembers(const std::string& app, const transport::GroupDescription& group,
                      const ClusterOptions& home);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_MEMBERS_H_
