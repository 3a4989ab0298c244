// JoinTurn: which side of a join the record at hand is of.
//
// A processor does not know which of its parents a record comes from, and a join has to. So each
// side goes through a node of its own that says so, in an object that the three nodes of a task
// share as they would share a store. Tested by tests/unit/dsl/stream_join_test.cc.
#ifndef KSTREAM_DSL_JOIN_TURN_H_
#define KSTREAM_DSL_JOIN_TURN_H_

#include <string>
#include <string_view>
#include <utility>

#include "dsl/join_rows.h"
#include "kstream/processor.h"
#include "kstream/store.h"

namespace kstream::dsl {

class JoinTurn final : public StateStore {
 public:
  explicit JoinTurn(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }
  void Close() override {}

  static StoreSupplier Supplier();
  // kUsage: the store of that name is another thing.
  static Result<JoinTurn*> Of(ProcessorContext& context, std::string_view name);

  JoinSide side = JoinSide::kLeft;

 private:
  const std::string name_;
};

// Takes the turn for its side, and forwards.
ProcessorSupplier JoinSideOf(JoinSide side, std::string turn);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_JOIN_TURN_H_
