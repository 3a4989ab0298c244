#include "dsl/join_turn.h"

#include <fmt/format.h>

#include <memory>

namespace kstream::dsl {
namespace {

class JoinSideNode final : public Processor {
 public:
  JoinSideNode(JoinSide side, std::string turn) : side_(side), name_(std::move(turn)) {}

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    KSTREAM_ASSIGN_OR_RETURN(turn_, JoinTurn::Of(context, name_));
    return Status::Ok();
  }

  Status Process(const Record& record) override {
    turn_->side = side_;
    return context_->Forward(record);
  }

 private:
  const JoinSide side_;
  const std::string name_;
  ProcessorContext* context_ = nullptr;
  JoinTurn* turn_ = nullptr;
};

}  // namespace

StoreSupplier JoinTurn::Supplier() {
  return [](std::string_view name) { return std::make_unique<JoinTurn>(name); };
}

Result<JoinTurn*> JoinTurn::Of(ProcessorContext& context, std::string_view name) {
  KSTREAM_ASSIGN_OR_RETURN(StateStore* const store, context.Store(name));
  auto* const turn = dynamic_cast<JoinTurn*>(store);
  if (turn) return turn;
  return Status::Usage(fmt::format("store '{}' is none of a join's", name));
}

ProcessorSupplier JoinSideOf(JoinSide side, std::string turn) {
  return ProcessorSupplier(
      [side, turn = std::move(turn)] { return std::make_unique<JoinSideNode>(side, turn); },
      side == JoinSide::kLeft ? "left of a join" : "right of a join");
}

}  // namespace kstream::dsl
