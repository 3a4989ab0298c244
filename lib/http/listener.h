// Listener: the wire. It takes connections, reads one request from each, has it answered and closes
// it, in a few threads of its own; what it reads may be hostile, and what it writes to may never
// read.
//
// The protocol is spoken by cpp-httplib, which is small, in every distribution, and has nothing to
// set up. What it leaves open is closed here, around it, in a stream of our own (connection.h): how
// long a head may be in all and how long it may take, a slow reader, more connections than threads.
// Its router, which matches paths by regular expressions, and its ranges are not used. One
// connection is one request: nobody holds a thread by waiting, and what is left of a body that
// nobody asked for is never taken for a request.
//
// Tested by tests/unit/http/listener_test.cc.
#ifndef KSTREAM_HTTP_LISTENER_H_
#define KSTREAM_HTTP_LISTENER_H_

#include <chrono>
#include <functional>
#include <memory>

#include "http/address.h"
#include "http/answer.h"
#include "kstream/status.h"

namespace kstream::http {

struct Limits {
  size_t head = 16 << 10;                     // bytes of a request line and headers together
  std::chrono::milliseconds request{10'000};  // until they are all here
  std::chrono::milliseconds write{10'000};    // until a piece of the answer is taken
  int threads = 8;
  int connections = 32;  // that are served or wait for a thread; more are turned away with 503
};

class Listener {
 public:
  // Called from several threads at once. No exception of its own.
  using Handler = std::function<Answer(const Request&)>;

  // Listens until it is destroyed. kUsage: the address cannot be had.
  static Result<std::unique_ptr<Listener>> Open(const Address& address, Handler handler,
                                                const Limits& limits = {});
  virtual ~Listener() = default;

  virtual uint16_t port() const = 0;
};

}  // namespace kstream::http

#endif  // KSTREAM_HTTP_LISTENER_H_
