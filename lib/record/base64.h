// Binary as text: base64 (RFC 4648, padded) through OpenSSL, and lower-case hex.
//
// Decoding is strict, because a record that was damaged on its way must not pass as another one: no
// white space, no missing or stray padding, no bits set beyond the last byte. Tested by
// tests/unit/record/base64_test.cc.
#ifndef KSTREAM_RECORD_BASE64_H_
#define KSTREAM_RECORD_BASE64_H_

#include <string>
#include <string_view>

namespace kstream {

void AppendBase64(std::string_view bytes, std::string* out);
// Appends the bytes of `text`. False, and nothing appended, when it is not base64.
[[nodiscard]] bool DecodeBase64(std::string_view text, std::string* out);

void AppendHex(std::string_view bytes, std::string* out);
// Appends the bytes of `text`, digits of either case. False, and nothing appended, otherwise.
[[nodiscard]] bool DecodeHex(std::string_view text, std::string* out);

}  // namespace kstream

#endif  // KSTREAM_RECORD_BASE64_H_
