// Operators: ready-made processors over expressions.
//
// In every expression `.` is the value that the record came with. A failing expression is a bad
// record (kData), and nothing of that record is forwarded.
#ifndef KSTREAM_OPERATORS_H_
#define KSTREAM_OPERATORS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kstream/export.h"
#include "kstream/expression.h"
#include "kstream/processor.h"
#include "kstream/serdes.h"

namespace kstream {

// Where a record goes beside the sink's own rule; see SinkSpec::topic_of_record.
struct RouteSpec {
  std::optional<Expression> to = {};         // topic per record, a string
  std::optional<Expression> partition = {};  // partition number, an integer of at least 0
};

struct FilterSpec {
  Expression keep;
  bool negate = false;
  // Names of children; an empty name means all children. With `rest`, what is not kept goes there.
  std::string kept = {}, rest = {};
  RouteSpec route = {};
  SerdeNames serdes = {};
};

// Forwards a record untouched when some output of `keep` is neither false nor null (jq) or its
// result is truthy (JsonLogic).
KSTREAM_EXPORT Result<ProcessorSupplier> Filter(FilterSpec spec);

struct MapSpec {
  Expression value;                                              // 0..n outputs make 0..n records
  std::optional<Expression> tombstone = {};                      // true: a null payload instead
  std::optional<Expression> key = {};                            // null: no key; text if a string
  std::vector<std::pair<std::string, Expression>> headers = {};  // appended; null: a null value
  RouteSpec route = {};
  SerdeNames serdes = {};
  bool single = false;  // exactly one output is wanted; another number makes the record bad
};

// Replaces the value; a null payload passes unmapped. In `tombstone`, `key`, `headers` and `route`,
// `$out` is the value made. kUsage when a serde is unknown.
KSTREAM_EXPORT Result<ProcessorSupplier> Map(MapSpec spec);

}  // namespace kstream

#endif  // KSTREAM_OPERATORS_H_
