// The processor of a filter over a table (FilterSpec::table).
#ifndef KSTREAM_DSL_FILTER_TABLE_H_
#define KSTREAM_DSL_FILTER_TABLE_H_

#include <memory>

#include "dsl/skips.h"
#include "kstream/operators.h"
#include "kstream/processor.h"
#include "record/serde.h"

namespace kstream::dsl {

std::unique_ptr<Processor> NewFilterTable(const FilterSpec& spec, const Serdes& serdes,
                                          std::shared_ptr<SkipTotals> skips);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_FILTER_TABLE_H_
