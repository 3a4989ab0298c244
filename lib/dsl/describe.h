// What operators say about themselves in Topology::Describe, and thereby in Topology::Hash: in the
// manner of the tools' command lines, all of it, so that operators that do different things differ.
// Tested by tests/unit/dsl/stream_build_test.cc.
#ifndef KSTREAM_DSL_DESCRIBE_H_
#define KSTREAM_DSL_DESCRIBE_H_

#include <optional>
#include <string>
#include <string_view>

#include "kstream/expression.h"
#include "kstream/operators.h"
#include "kstream/serdes.h"

namespace kstream::dsl {

// One line: a word as it is, other text in single quotes as a shell takes it.
std::string Quoted(std::string_view text);
// The text of an expression, quoted, with the language said if it is not jq.
std::string Quoted(const Expression& expression);
// " -s key=NAME -s value=NAME", of those that are not the default.
std::string Describe(const SerdeNames& serdes);

// " --window .. --grace .. --emit .."
std::string Describe(const WindowSpec& window, AggregateSpec::Emit emit);

std::string Describe(const FilterSpec& spec);
std::string Describe(const MapSpec& spec);
std::string Describe(const DistinctSpec& spec);
std::string Describe(const GroupBySpec& spec);
std::string Describe(const AggregateSpec& spec);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_DESCRIBE_H_
