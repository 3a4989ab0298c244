// GroupTable: keeps the rows of a table, and takes each change of one to its group: see
// GroupBySpec::table. The group is what an expression or a function makes of the row; of a row that
// moves, the group that it leaves hears of it first, as in Kafka Streams. Tested by
// tests/unit/dsl/table_aggregate_test.cc.
#ifndef KSTREAM_DSL_GROUP_TABLE_H_
#define KSTREAM_DSL_GROUP_TABLE_H_

#include <functional>
#include <memory>
#include <string>

#include "dsl/skips.h"
#include "kstream/processor.h"
#include "record/serde.h"

namespace kstream::dsl {

// The group of a row; its bytes live until the next call. kData: the row is bad.
using GroupOfRow = std::function<Status(const Record& row, Bytes* group)>;

// `group_of` is copied for each of a row's two states.
std::unique_ptr<Processor> NewGroupTable(const std::string& store, const Serdes& serdes,
                                         const std::function<GroupOfRow()>& group_of,
                                         std::shared_ptr<SkipTotals> skips);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_GROUP_TABLE_H_
