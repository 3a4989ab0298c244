// Timeouts of the clients, unless the user sets the property of that name: for those who make the
// clients, and those who reckon with them.
#ifndef KSTREAM_TRANSPORT_TIMEOUTS_H_
#define KSTREAM_TRANSPORT_TIMEOUTS_H_

#include <chrono>

namespace kstream::transport {

inline constexpr std::chrono::milliseconds kSessionTimeout{45'000};      // session.timeout.ms
inline constexpr std::chrono::milliseconds kTransactionTimeout{10'000};  // transaction.timeout.ms

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_TIMEOUTS_H_
