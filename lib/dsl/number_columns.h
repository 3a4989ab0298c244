// Columns that keep numbers: count, sum, avg.
#ifndef KSTREAM_DSL_NUMBER_COLUMNS_H_
#define KSTREAM_DSL_NUMBER_COLUMNS_H_

#include <memory>
#include <optional>
#include <string>

#include "dsl/argument.h"
#include "dsl/column.h"

namespace kstream::dsl {

std::unique_ptr<Column> NewCount(std::string name, std::optional<Argument> argument);
std::unique_ptr<Column> NewSum(std::string name, Argument argument);
std::unique_ptr<Column> NewAvg(std::string name, Argument argument);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_NUMBER_COLUMNS_H_
