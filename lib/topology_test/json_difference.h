// FirstDifference: where two JSON texts say different things; and Rewritten: the one, made to say
// what the other does. Numbers are compared by value, and members of objects in any order. Tested
// by tests/unit/topology_test/item_test.cc.
#ifndef KSTREAM_TOPOLOGY_TEST_JSON_DIFFERENCE_H_
#define KSTREAM_TOPOLOGY_TEST_JSON_DIFFERENCE_H_

#include <optional>
#include <string>
#include <string_view>

namespace kstream::topology_test {

struct JsonDifference {
  std::string path;  // ".items[2].qty"; empty: the whole
  // Compact JSON; empty: there is none.
  std::string wanted, came;
};

// Both are valid JSON. `whole`: a member that `wanted` lacks is a difference, too.
std::optional<JsonDifference> FirstDifference(std::string_view wanted, std::string_view came,
                                              bool whole);

// What `came` says, in the words of `wanted` wherever they say the same: white space, the order of
// members and the spelling of numbers stay. Not `whole`: members that `wanted` lacks stay away.
std::string Rewritten(std::string_view wanted, std::string_view came, bool whole);

}  // namespace kstream::topology_test

#endif  // KSTREAM_TOPOLOGY_TEST_JSON_DIFFERENCE_H_
