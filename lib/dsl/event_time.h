// Event time: what all that goes by the times of records asks of them. Tested by
// tests/unit/dsl/window_aggregate_test.cc.
#ifndef KSTREAM_DSL_EVENT_TIME_H_
#define KSTREAM_DSL_EVENT_TIME_H_

#include "kstream/record.h"
#include "kstream/status.h"

namespace kstream::dsl {

// kData: it has no time, or one past the year 9999.
Status CheckTime(const Record& record);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_EVENT_TIME_H_
