// ExactSum: sum and average of a table, whose rows come and go: what is taken out leaves exactly
// what would be there without it. Integers are summed within 64 bits; fractions, which are doubles,
// as a list of doubles that do not overlap and whose sum is exact (Shewchuk 1997), rounded once
// when it is printed. So the sum does not depend on the order of changes, and that of no rows is 0.
//
// Its state is {"exact":[INTEGERS,COUNT,PARTS...]}. Tested by
// tests/unit/dsl/table_aggregate_test.cc.
#ifndef KSTREAM_DSL_EXACT_SUM_COLUMN_H_
#define KSTREAM_DSL_EXACT_SUM_COLUMN_H_

#include <memory>
#include <string>

#include "dsl/argument.h"
#include "dsl/column.h"

namespace kstream::dsl {

// `kind`: kSum or kAvg.
std::unique_ptr<Column> NewExactSum(std::string name, Argument argument,
                                    AggregateFunction::Kind kind);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_EXACT_SUM_COLUMN_H_
