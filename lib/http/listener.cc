#include "http/listener.h"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "http/connection.h"

namespace kstream::http {
namespace {

constexpr std::string_view kBusy =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 35\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
    "too many connections: try it again\n";

constexpr std::string_view kOverlong =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 24\r\nConnection: close\r\n\r\nthe request is too long\n";

// The connection that this thread serves; null: it is to be turned away.
thread_local Connection* serving = nullptr;

// Gives httplib a connection in its own terms.
class Wire final : public httplib::Stream {
 public:
  explicit Wire(Connection* connection) : connection_(connection) {}
  bool is_readable() const override { return connection_->good(); }
  bool is_writable() const override { return connection_->good(); }
  ssize_t read(char* to, size_t most) override { return connection_->Read(to, most); }
  ssize_t write(const char* from, size_t size) override {
    return connection_->Write({from, size}) ? static_cast<ssize_t>(size) : -1;
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return connection_->fd(); }

 private:
  Connection* const connection_;
};

// Counts what waits and what is served.
class Pool final : public httplib::TaskQueue {
 public:
  explicit Pool(const Limits& limits)
      : most_(limits.connections), threads_(static_cast<size_t>(limits.threads)) {}

  void enqueue(std::function<void()> serve) override {
    if (open_ >= most_) {
      turned_away = true;
      serve();
      turned_away = false;
      return;
    }
    open_++;
    threads_.enqueue([this, serve = std::move(serve)] {
      serve();
      open_--;
    });
  }
  void shutdown() override { threads_.shutdown(); }

  static thread_local bool turned_away;

 private:
  const int most_;
  std::atomic<int> open_ = 0;
  httplib::ThreadPool threads_;
};

thread_local bool Pool::turned_away = false;

Request ToRequest(const httplib::Request& from) {
  const auto header = [&from](const char* name) { return from.get_header_value(name); };
  return {.method = from.method,
          .path = from.path,
          .query = from.params,
          .accept = header("Accept"),
          .authorization = header("Authorization"),
          .host = header("Host"),
          .origin = header("Origin")};
}

// With a request that did not come as far as the handler.
std::string_view WhatIsWrong(int status) {
  if (status == 408) return "the request took too long to come\n";
  if (status == 414) return "the path is too long\n";
  if (status == 431) return "the request is too long\n";
  return status < 500 ? "this is no request\n" : "the request could not be answered\n";
}

void Fill(Answer answer, httplib::Response* to) {
  to->status = answer.status;
  for (const auto& [name, value] : answer.headers) to->set_header(name, value);
  if (!answer.more) return to->set_content(answer.body, answer.type);
  to->set_chunked_content_provider(
      answer.type, [piece = std::move(answer.body), more = std::move(answer.more), last = false](
                       size_t, httplib::DataSink& sink) mutable {
        if (!piece.empty() && !sink.write(piece.data(), piece.size())) return false;
        piece.clear();
        if (last) {
          sink.done();
          return true;
        }
        const Result<bool> another = more(&piece);
        last = another.ok() && !*another;
        return another.ok();
      });
}

class Server final : public httplib::Server {
 public:
  Server(Listener::Handler handler, const Limits& limits) : limits_(limits) {
    new_task_queue = [this] { return new Pool(limits_); };
    // Two processes on one port would each get some of the requests.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    set_pre_routing_handler([handler = std::move(handler)](const httplib::Request& request,
                                                           httplib::Response& response) {
      Fill(handler(ToRequest(request)), &response);
      return HandlerResponse::Handled;
    });
    set_error_handler(Handler([](const httplib::Request&, httplib::Response& response) {
      if (serving->overlong()) response.status = 431;
      if (serving->late()) response.status = 408;
      if (response.body.empty()) {
        response.set_content(std::string(WhatIsWrong(response.status)), std::string(kPlain));
      }
    }));
    set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
  }

  void Abort() {
    stopping_ = true;
    stop();
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, limits_, &stopping_);
    if (Pool::turned_away) {
      connection.TurnAway(kBusy);
      return false;
    }
    serving = &connection;
    Wire wire(&connection);
    bool closed = false;
    // What it throws is of the request, which is over with that.
    try {
      process_request(wire, true, closed,
                      [](httplib::Request& request) { request.ranges.clear(); });
    } catch (...) {
      connection.Fail();
    }
    // The library has no answer to a first line without an end.
    if (connection.overlong() && !connection.answered()) connection.Write(kOverlong);
    connection.Close();
    serving = nullptr;
    return true;
  }

  const Limits limits_;
  std::atomic<bool> stopping_ = false;
};

class HttplibListener final : public Listener {
 public:
  HttplibListener(Handler handler, const Limits& limits) : server_(std::move(handler), limits) {}

  ~HttplibListener() override {
    server_.Abort();
    if (thread_.joinable()) thread_.join();
  }

  Status Bind(const Address& address) {
    errno = 0;
    const int port = address.port != 0
                         ? (server_.bind_to_port(address.host, address.port) ? address.port : -1)
                         : server_.bind_to_any_port(address.host);
    if (port < 0) {
      return Status::Usage(fmt::format("{}:{} cannot be listened on: {}", address.host,
                                       address.port,
                                       errno ? std::strerror(errno) : "no such host"));
    }
    port_ = static_cast<uint16_t>(port);
    return Status::Ok();
  }

  void Listen() {
    // Signals are for the threads of the run.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    // A stop before that would be forgotten.
    while (!server_.is_running()) std::this_thread::yield();
  }

  uint16_t port() const override { return port_; }

 private:
  Server server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Listener>> Listener::Open(const Address& address, Handler handler,
                                                 const Limits& limits) {
  auto listener = std::make_unique<HttplibListener>(std::move(handler), limits);
  KSTREAM_RETURN_IF_ERROR(listener->Bind(address));
  listener->Listen();
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace kstream::http
