// DeleteRange: what a store has of a range of keys goes, however much it is: a store must not be
// changed while it is walked over, so keys are gathered, some thousands at a time. Tested by
// tests/unit/dsl/window_state_test.cc and join_state_test.cc.
#ifndef KSTREAM_DSL_STORE_RANGE_H_
#define KSTREAM_DSL_STORE_RANGE_H_

#include <string>

#include "kstream/status.h"
#include "kstream/store.h"

namespace kstream::dsl {

// Keys from <= key < to.
Status DeleteRange(KeyValueStore* store, std::string from, const std::string& to);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_STORE_RANGE_H_
