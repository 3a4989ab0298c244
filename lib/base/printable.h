// Text of anyone made fit to be shown: on one line, in UTF-8, without a way to steer a terminal.
// Tested by tests/unit/base/printable_test.cc and log_test.cc.
#ifndef KSTREAM_BASE_PRINTABLE_H_
#define KSTREAM_BASE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace kstream {

// `text` with control characters as \u00XX and each byte that is no UTF-8 as U+FFFD. A character of
// `quoted` (ASCII) gets a backslash before it: with "\"\\" the result fits into a JSON string.
std::string Printable(std::string_view text, std::string_view quoted = "");

}  // namespace kstream

#endif  // KSTREAM_BASE_PRINTABLE_H_
