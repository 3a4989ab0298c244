// Route: the topic and partition that an operator's expressions choose for a record.
#ifndef KSTREAM_DSL_ROUTE_H_
#define KSTREAM_DSL_ROUTE_H_

#include <optional>

#include "expr/single_value.h"
#include "kstream/operators.h"

namespace kstream::dsl {

class Route {
 public:
  Route(const RouteSpec& spec, const Serdes& serdes) {
    if (spec.to) to_.emplace("--to", *spec.to, serdes);
    if (spec.partition) partition_.emplace("--partition", *spec.partition, serdes);
  }

  // Whether Apply changes nothing.
  bool trivial() const { return !to_ && !partition_; }

  // Sets topic and partition of *record, as far as there are expressions for them; its views then
  // live until the next call.
  Status Apply(const expr::Input& input, Record* record) {
    if (to_) KSTREAM_RETURN_IF_ERROR(to_->Topic(input, &record->topic));
    if (partition_) KSTREAM_RETURN_IF_ERROR(partition_->Partition(input, &record->partition));
    return Status::Ok();
  }

 private:
  std::optional<expr::SingleValue> to_, partition_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_ROUTE_H_
