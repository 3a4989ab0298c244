// Columns that fold records into one value, by expressions or by functions of C++.
#ifndef KSTREAM_DSL_FOLD_COLUMNS_H_
#define KSTREAM_DSL_FOLD_COLUMNS_H_

#include <memory>

#include "dsl/column.h"
#include "kstream/expression.h"
#include "kstream/table.h"
#include "record/serde.h"

namespace kstream::dsl {

// The first value of a group is the value of its first record; `add` combines the rest.
std::unique_ptr<Column> NewReduce(const Expression& add, const Serdes& serdes);
std::unique_ptr<Column> NewReduceBy(const Reducer& reducer);
std::unique_ptr<Column> NewFoldBy(const Initializer& init, const Aggregator& add);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_FOLD_COLUMNS_H_
