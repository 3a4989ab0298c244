// Verify: whether what an instance has on disk is what its changelog says. The store is rebuilt
// beside it, from the changelog below its own offset, read as committed, and compared.
//
// A compacted changelog need not hold the value that a row had at that offset, if the row has
// changed since: such a row is compared only with what is left of it, and a difference there says
// nothing. A store that stands at the end of its changelog has no such rows. Tested by
// tests/unit/admin/compare_test.cc and, on a broker, tests/broker/inspect_rows.bats.
#ifndef KSTREAM_ADMIN_VERIFY_H_
#define KSTREAM_ADMIN_VERIFY_H_

#include "admin/instances.h"
#include "kstream/inspect.h"
#include "kstream/status.h"

namespace kstream::admin {

// As Inspector::Verify, of one instance that has a directory and a changelog.
Result<InstanceVerdict> VerifyInstance(Instances* instances, const Instance& instance,
                                       const transport::TopicPartition& changelog,
                                       const Inspector::DifferenceVisitor& visit);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_VERIFY_H_
