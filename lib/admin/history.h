// History: what a changelog still has of a key, version by version. What a key stands for is known
// once the whole changelog has been read (row_keys.h), so what may be asked for is gathered by its
// offset first, in as little memory as any view. Tested by tests/unit/admin/history_test.cc.
#ifndef KSTREAM_ADMIN_HISTORY_H_
#define KSTREAM_ADMIN_HISTORY_H_

#include "admin/instances.h"
#include "kstream/inspect.h"
#include "kstream/status.h"

namespace kstream::admin {

// As Inspector::History, of one instance. False: `visit` wants no more.
Result<bool> HistoryOf(Instances* instances, const Instance& instance,
                       const transport::TopicPartition& changelog, const RowQuery& query,
                       const Inspector::VersionVisitor& visit);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_HISTORY_H_
