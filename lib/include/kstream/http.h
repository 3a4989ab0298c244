// HttpServer: a running topology, asked and told over HTTP: metrics, health, the topology with its
// rates and lag, the rows of its stores, pause and resume. share/doc/kstream/live.md is the page
// for users.
//
// Whoever talks to it may be anybody: a request is small, soon over and does not change what comes
// out of the run; whatever is wrong with it, it is told so and forgotten.
#ifndef KSTREAM_HTTP_H_
#define KSTREAM_HTTP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kstream/export.h"
#include "kstream/inspect.h"
#include "kstream/runtime.h"
#include "kstream/status.h"

namespace kstream {

struct KSTREAM_EXPORT HttpOptions {
  // "8080", "HOST:8080", "[::1]:8080"; without a host it is 127.0.0.1. Port 0: any that is free.
  // kUsage.
  Status SetAddress(std::string_view text);

  std::string host = "127.0.0.1";  // a name or a number
  uint16_t port = 0;
  // What "Authorization: Bearer ..." must say; empty: nothing, which is for loopback alone.
  std::string token = {};
  // What people should see of the topology beside its run: one JSON object, such as
  // --explain=json prints; empty: there is none.
  std::string plan = {};
};

class KSTREAM_EXPORT HttpServer {
 public:
  // Listens, in threads of its own, until it is destroyed; `runtime` outlives it and may be in any
  // state. kUsage: an address that cannot be had, or one other than loopback without a token.
  static Result<std::unique_ptr<HttpServer>> Start(Runtime* runtime, HttpOptions options);
  // Ends the requests under way.
  virtual ~HttpServer();

  // "http://127.0.0.1:8080".
  virtual std::string url() const = 0;
};

// The stores of a run that listens there, as kstream/inspect.h has those of a directory: what is
// committed, of the tasks that are in that process. `address` as HttpOptions::SetAddress takes it,
// or "http://HOST:PORT". List tells store, task and offset alone; what needs a changelog is kUsage.
// kCluster: nobody answers, or not without a (or with that) token.
KSTREAM_EXPORT Result<std::unique_ptr<Inspector>> InspectOverHttp(std::string_view address,
                                                                  std::string_view token);

}  // namespace kstream

#endif  // KSTREAM_HTTP_H_
