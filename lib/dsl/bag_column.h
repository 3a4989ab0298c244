// Bag: min, max, collect and the sets of a table, whose rows come and go: it keeps all values of
// its group, each as often as rows have it, in jq's order, so that whatever is taken out leaves
// what would be there without it. Its state is {"bag":[value,count,value,count,...]}.
//
// A change costs a search and a move within one array, and the state is written whole: what is good
// for groups of some thousands of different values. Tested by
// tests/unit/dsl/table_aggregate_test.cc.
#ifndef KSTREAM_DSL_BAG_COLUMN_H_
#define KSTREAM_DSL_BAG_COLUMN_H_

#include <memory>
#include <string>

#include "dsl/argument.h"
#include "dsl/column.h"

namespace kstream::dsl {

// Whether a function of this kind keeps values, and so has a bag. (First and last go by arrival,
// which a table's rows do not have.)
bool IsOfValues(AggregateFunction::Kind kind);

std::unique_ptr<Column> NewBag(std::string name, Argument argument, AggregateFunction::Kind kind);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_BAG_COLUMN_H_
