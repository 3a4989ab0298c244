// StoreLabel: the first row of a store (kWindowsKey), which says in JSON of what its rows are: for
// whoever finds them without their operator, and for an operator that finds those of another one.
// Tested by tests/unit/dsl/window_state_test.cc, join_state_test.cc and distinct_test.cc.
#ifndef KSTREAM_DSL_STORE_LABEL_H_
#define KSTREAM_DSL_STORE_LABEL_H_

#include <string>
#include <string_view>
#include <utility>

#include "kstream/status.h"
#include "kstream/store.h"

namespace kstream::dsl {

// kState: a store has what the operator that is to use it has not written.
Status OtherState(std::string_view store, std::string_view why);

class StoreLabel {
 public:
  explicit StoreLabel(std::string text) : text_(std::move(text)) {}

  // kState: the store says something else.
  Status Check(const KeyValueStore& store, std::string_view name);
  // Whether the store says it: it does as soon as it has rows.
  bool said() const { return said_; }
  Status Say(KeyValueStore* store);

 private:
  const std::string text_;
  bool said_ = false;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_STORE_LABEL_H_
