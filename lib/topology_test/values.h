// Values: keys, payloads, headers, times and counts, out of a test file, and as the JSON in which
// items are compared and told. Tested by tests/unit/topology_test/item_test.cc.
#ifndef KSTREAM_TOPOLOGY_TEST_VALUES_H_
#define KSTREAM_TOPOLOGY_TEST_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/status.h"
#include "kstream/test_driver.h"
#include "topology_file/file_text.h"

namespace kstream::topology_test {

using Headers = decltype(TestRecord::headers);

// --- as a file has them: kExpression, at the value, when it is none of the kind ---

// The text of a string, without a look at `${NAME}`, which is data here.
Result<std::string> PlainText(topology_file::FileValue value, std::string_view what);
// ms since the epoch, of a whole number or an RFC 3339 string.
Result<int64_t> ParseTime(topology_file::FileValue value);
// A whole number from 0 to `most`.
Result<int64_t> ParseCount(topology_file::FileValue value, int64_t most);
Result<std::string> Base64Bytes(topology_file::FileValue value);
// As an expression that gives a key: a string's text, the compact JSON of anything else.
Result<std::optional<std::string>> KeyBytes(topology_file::FileValue value);
// A string's text; null is none.
Result<std::optional<std::string>> PayloadBytes(topology_file::FileValue value);
// kcat's flat array, or an object.
Result<Headers> ParseHeaders(topology_file::FileValue value);
// Any value as compact JSON.
std::string CompactText(topology_file::FileValue value);

// --- as facts: compact JSON ---

std::string Quoted(std::string_view text);
std::string Base64Of(std::string_view bytes);
// nullopt: it is no JSON.
std::optional<std::string> CompactJson(std::string_view text);
// As the envelope has them.
std::string HeadersText(const Headers& headers);

}  // namespace kstream::topology_test

#endif  // KSTREAM_TOPOLOGY_TEST_VALUES_H_
