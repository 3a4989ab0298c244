// What the target of a reset means for each partition of the inputs. Tested by
// tests/unit/admin/reset_test.cc.
#ifndef KSTREAM_ADMIN_RESET_TARGET_H_
#define KSTREAM_ADMIN_RESET_TARGET_H_

#include <cstdint>
#include <map>
#include <optional>

#include "kstream/reset.h"
#include "kstream/status.h"
#include "transport/admin.h"

namespace kstream::admin {

// Inputs, with what is committed of them.
using Committed = std::map<transport::TopicPartition, std::optional<int64_t>>;

// The offset of each input, within its log: what lies outside is drawn to its edge, with a warning.
// kUsage: the target says nothing of an input, or its file is none. kCluster.
Result<std::map<transport::TopicPartition, int64_t>> Resolve(const ResetTarget& target,
                                                             const Committed& inputs,
                                                             transport::Admin* admin);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_RESET_TARGET_H_
