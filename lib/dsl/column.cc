#include "dsl/column.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "dsl/argument.h"
#include "dsl/bag_column.h"
#include "dsl/exact_sum_column.h"
#include "dsl/number_columns.h"
#include "dsl/value_columns.h"

namespace kstream {

using Kind = AggregateFunction::Kind;

std::string_view ToString(Kind kind) {
  constexpr std::array<std::string_view, 10> kNames = {
      "count", "sum", "min", "max", "avg", "first", "last", "collect", "collect_set", "distinct"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view NameOf(const AggregateFunction& function) {
  return function.name.empty() ? ToString(function.kind) : std::string_view(function.name);
}

namespace dsl {
namespace {

// The flag by which errors call a function, with the name of its result if that is another.
std::string FlagOf(const AggregateFunction& function) {
  std::string flag = fmt::format("--{}", ToString(function.kind));
  for (char& c : flag) c = c == '_' ? '-' : c;
  const std::string_view name = NameOf(function);
  return name == ToString(function.kind) ? flag : fmt::format("{} {}", flag, name);
}

}  // namespace

kstream::Result<bool> Column::PrepareOut(const Record&, const Accumulator&) {
  return Status::Usage(name_ + " cannot be undone");
}
void Column::ApplyOut(Accumulator*) {}

std::unique_ptr<Column> NewColumn(const AggregateFunction& function, bool table,
                                  const Serdes& serdes) {
  std::string name(NameOf(function));
  std::optional<Argument> argument;
  if (function.argument) argument.emplace(FlagOf(function), *function.argument, serdes);
  if (table && IsOfValues(function.kind)) {
    return NewBag(std::move(name), *std::move(argument), function.kind);
  }
  if (table && (function.kind == Kind::kSum || function.kind == Kind::kAvg)) {
    return NewExactSum(std::move(name), *std::move(argument), function.kind);
  }
  switch (function.kind) {
    case Kind::kCount:
      return NewCount(std::move(name), std::move(argument));
    case Kind::kSum:
      return NewSum(std::move(name), *std::move(argument));
    case Kind::kAvg:
      return NewAvg(std::move(name), *std::move(argument));
    case Kind::kMin:
      return NewExtreme(std::move(name), *std::move(argument), Extreme::kMin);
    case Kind::kMax:
      return NewExtreme(std::move(name), *std::move(argument), Extreme::kMax);
    case Kind::kFirst:
      return NewEdge(std::move(name), *std::move(argument), Edge::kFirst);
    case Kind::kLast:
      return NewEdge(std::move(name), *std::move(argument), Edge::kLast);
    case Kind::kCollect:
      return NewCollect(std::move(name), *std::move(argument));
    case Kind::kCollectSet:
      return NewSet(std::move(name), *std::move(argument), SetResult::kValues);
    case Kind::kDistinct:
      return NewSet(std::move(name), *std::move(argument), SetResult::kSize);
  }
  return nullptr;
}

}  // namespace dsl
}  // namespace kstream
