// Routes: what each path of the server answers, for a runtime. Tested by
// tests/unit/http/server_test.cc.
#ifndef KSTREAM_HTTP_ROUTES_H_
#define KSTREAM_HTTP_ROUTES_H_

#include <string>

#include "http/answer.h"
#include "kstream/http.h"
#include "kstream/runtime.h"

namespace kstream::http {

// Thread-safe.
class Routes {
 public:
  // `runtime` outlives it.
  Routes(Runtime* runtime, const HttpOptions& options)
      : runtime_(runtime), token_(options.token), plan_(options.plan) {}

  Answer Take(const Request& request) const;

 private:
  // Nullopt: may go on. Who has no token to show has to come from this host, and by its name.
  std::optional<Answer> Check(const Request& request) const;
  Answer Health() const;
  Answer Ready() const;
  Answer Topology(const Request& request) const;
  Answer Stores() const;
  Answer Rows(const Request& request) const;
  Answer Steer(const Request& request) const;

  Runtime* const runtime_;
  const std::string token_;
  const std::string plan_;
};

}  // namespace kstream::http

#endif  // KSTREAM_HTTP_ROUTES_H_
