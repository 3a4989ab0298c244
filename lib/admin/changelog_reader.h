// Reading parts of changelogs to their ends, as committed.
//
// The end of a part is an offset, taken while open transactions counted, so what is committed below
// it is there, whenever its marker comes: below an open transaction one waits for it to end. Tested
// by tests/unit/admin/app_inspector_test.cc.
#ifndef KSTREAM_ADMIN_CHANGELOG_READER_H_
#define KSTREAM_ADMIN_CHANGELOG_READER_H_

#include <cstdint>
#include <functional>
#include <span>

#include "base/clock.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "transport/cluster.h"

namespace kstream::admin {

// Offsets from <= offset < end of a partition.
struct LogPart {
  transport::TopicPartition partition;
  int64_t from = 0;
  int64_t end = 0;
};

// Hands over runs of records of one partition, in order; partitions come mixed. The records end
// with the call. kCluster, and what `take` says.
Status ReadParts(transport::Cluster* cluster, const Clock& clock, std::span<const LogPart> parts,
                 const std::function<Status(std::span<const Record>)>& take);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_CHANGELOG_READER_H_
