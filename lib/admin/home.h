// Home: the cluster that an application lives on, for those who look at it from outside.
#ifndef KSTREAM_ADMIN_HOME_H_
#define KSTREAM_ADMIN_HOME_H_

#include <memory>

#include "kstream/properties.h"
#include "kstream/status.h"
#include "transport/cluster.h"

namespace kstream::admin {

// Connects to none yet. kUsage: a property is none.
Result<std::unique_ptr<transport::Cluster>> OpenHome(const ClusterOptions& options);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_HOME_H_
