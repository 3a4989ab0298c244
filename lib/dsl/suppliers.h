// The operators of streams that kstream/operators.h does not hold: each a small processor, made
// here. A supplier is a Status instead when something is missing or does not compile. Tested by
// tests/unit/dsl/stream_test.cc.
#ifndef KSTREAM_DSL_SUPPLIERS_H_
#define KSTREAM_DSL_SUPPLIERS_H_

#include <string>
#include <variant>
#include <vector>

#include "kstream/expression.h"
#include "kstream/processor.h"
#include "kstream/serdes.h"
#include "kstream/stream.h"
#include "kstream/table.h"

namespace kstream::dsl {

// Of functions.
Result<ProcessorSupplier> FilterBy(Predicate keep, bool negate);
Result<ProcessorSupplier> MapBy(Mapper mapper);
Result<ProcessorSupplier> FlatMapBy(Mapper mapper);
Result<ProcessorSupplier> FlatMapValuesBy(Mapper mapper);
Result<ProcessorSupplier> MapValuesBy(ValueMapper mapper);
Result<ProcessorSupplier> SelectKeyBy(KeySelector selector);
Result<ProcessorSupplier> PeekBy(Action action);

Result<ProcessorSupplier> SelectKey(const Expression& key, const SerdeNames& serdes);

// As kstream::GroupBy, with a function.
Result<ProcessorSupplier> GroupBy(KeySelector key);
// As kstream::GroupBy with a table, with a function.
Result<ProcessorSupplier> GroupTableBy(KeySelector key, const std::string& store,
                                       const SerdeNames& serdes);
// Keeps the latest value of each key in the store `store`, and forwards it.
Result<ProcessorSupplier> KeepTable(const std::string& store, const SerdeNames& serdes);

// Forwards a record to the first child whose condition holds, else to `otherwise` if it is named.
struct BranchCase {
  std::string child;
  std::variant<Expression, Predicate> when;
};
Result<ProcessorSupplier> Branch(std::vector<BranchCase> cases, std::string otherwise,
                                 const SerdeNames& serdes);

// Forwards what it gets: where streams meet, and where a branch begins.
ProcessorSupplier PassOn(std::string description);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_SUPPLIERS_H_
