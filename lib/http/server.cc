// HttpServer: a listener in front of the routes.
#include <fmt/format.h>

#include <utility>

#include "http/listener.h"
#include "http/routes.h"
#include "kstream/http.h"

namespace kstream {
namespace {

class RoutedServer final : public HttpServer {
 public:
  RoutedServer(Runtime* runtime, const HttpOptions& options) : routes_(runtime, options) {}

  Status Listen(const HttpOptions& options) {
    KSTREAM_ASSIGN_OR_RETURN(listener_, http::Listener::Open({options.host, options.port},
                                                             [this](const http::Request& request) {
                                                               return routes_.Take(request);
                                                             }));
    const bool six = options.host.find(':') != std::string::npos;
    url_ = fmt::format("http://{}{}{}:{}", six ? "[" : "", options.host, six ? "]" : "",
                       listener_->port());
    return Status::Ok();
  }

  std::string url() const override { return url_; }

 private:
  const http::Routes routes_;
  std::string url_;
  std::unique_ptr<http::Listener> listener_;
};

}  // namespace

Status HttpOptions::SetAddress(std::string_view text) {
  KSTREAM_ASSIGN_OR_RETURN(http::Address address, http::ParseAddress(text));
  host = std::move(address.host);
  port = address.port;
  return Status::Ok();
}

HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::Start(Runtime* runtime, HttpOptions options) {
  if (options.token.empty() && !http::IsLoopback(options.host)) {
    return Status::Usage(
        fmt::format("{} is not loopback, so others reach it: give a token that they have to show",
                    options.host));
  }
  auto server = std::make_unique<RoutedServer>(runtime, options);
  KSTREAM_RETURN_IF_ERROR(server->Listen(options));
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace kstream
