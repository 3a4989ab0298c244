// The rules for names. One that becomes a topic's, or part of one, or a group's or a directory's,
// has to be a topic's name to Kafka, so that whatever is made of it (a changelog, a state
// directory) is legal too. One that is only read, in errors, in Describe and in the labels of
// metrics, may be any line of text. Tested by tests/unit/topology/names_test.cc.
#ifndef KSTREAM_TOPOLOGY_NAMES_H_
#define KSTREAM_TOPOLOGY_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

namespace kstream {

// What is wrong with the name of a `what` ("topic"), in one line with both; nullopt: nothing. Legal
// are 1 to 249 of the letters a-z and A-Z, digits, '.', '_' and '-', but not "." and "..".
std::optional<std::string> WrongName(std::string_view what, std::string_view name);

// The same for a node: legal are 1 to 249 bytes of UTF-8 without control characters.
std::optional<std::string> WrongNodeName(std::string_view name);

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_NAMES_H_
