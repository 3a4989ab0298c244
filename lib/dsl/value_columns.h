// Columns that keep values as they are spelled: min, max, first, last, collect, the sets.
#ifndef KSTREAM_DSL_VALUE_COLUMNS_H_
#define KSTREAM_DSL_VALUE_COLUMNS_H_

#include <memory>
#include <string>

#include "dsl/argument.h"
#include "dsl/column.h"

namespace kstream::dsl {

enum class Extreme : uint8_t { kMin, kMax };
enum class Edge : uint8_t { kFirst, kLast };
enum class SetResult : uint8_t { kValues, kSize };

std::unique_ptr<Column> NewExtreme(std::string name, Argument argument, Extreme which);
std::unique_ptr<Column> NewEdge(std::string name, Argument argument, Edge which);
std::unique_ptr<Column> NewCollect(std::string name, Argument argument);
std::unique_ptr<Column> NewSet(std::string name, Argument argument, SetResult result);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_VALUE_COLUMNS_H_
