// Columns that fold records into one value, by expressions or by functions of C++.
#ifndef KSTREAM_DSL_FOLD_COLUMNS_H_
#define KSTREAM_DSL_FOLD_COLUMNS_H_

#include <memory>
#include <optional>

#include "dsl/column.h"
#include "kstream/expression.h"
#include "kstream/table.h"
#include "record/serde.h"

namespace kstream::dsl {

// The first value of a group is the value of its first record; `add` combines the rest. Of tables
// `sub`, or `undo`, takes a row out again; it is empty otherwise.
std::unique_ptr<Column> NewReduce(const Expression& add, const std::optional<Expression>& sub,
                                  const Serdes& serdes);
// `adds_up`: of windows that are added up of others, where the reducer is given the later value as
// that of a record, and no value may be null.
std::unique_ptr<Column> NewReduceBy(const Reducer& reducer, const Reducer& undo, bool adds_up);
// With a merger: of such windows.
std::unique_ptr<Column> NewFoldBy(const Initializer& init, const Aggregator& add,
                                  const Aggregator& undo, const Merger& merger);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_FOLD_COLUMNS_H_
