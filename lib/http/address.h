// Who may be listened to: addresses, names that browsers say, and tokens. Tested by
// tests/unit/http/address_test.cc.
#ifndef KSTREAM_HTTP_ADDRESS_H_
#define KSTREAM_HTTP_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kstream/status.h"

namespace kstream::http {

struct Address {
  std::string host;
  uint16_t port = 0;
};

// As HttpOptions::SetAddress takes it. kUsage.
Result<Address> ParseAddress(std::string_view text);

// "localhost", 127.0.0.0/8 and ::1: what only this host reaches, whatever its names are.
bool IsLoopback(std::string_view host);

// Whether a header Host ("localhost:8080") names loopback. A page of a stranger's can make a
// browser come here under a name of its own, and would read what it gets.
bool NamesLoopback(std::string_view host_header);

// Takes as long for a wrong token as for a right one.
bool SameToken(std::string_view given, std::string_view token);

}  // namespace kstream::http

#endif  // KSTREAM_HTTP_ADDRESS_H_
