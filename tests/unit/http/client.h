// A client that says anything, and takes its time: bytes over a socket.
#ifndef KSTREAM_TESTS_UNIT_HTTP_CLIENT_H_
#define KSTREAM_TESTS_UNIT_HTTP_CLIENT_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace kstream::http {

class Client {
 public:
  // `window`: bytes that are taken before anybody reads; 0: as the system has it.
  explicit Client(uint16_t port, int window = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (window > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // What the server does not take any more is lost, and no failure.
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // All that comes until the server closes.
  std::string Read() {
    std::string all;
    char bytes[4096];
    for (ssize_t got; (got = recv(fd_, bytes, sizeof bytes, 0)) > 0;) {
      all.append(bytes, static_cast<size_t>(got));
    }
    return all;
  }

 private:
  const int fd_;
};

// The answer to one request, all of it.
inline std::string Ask(uint16_t port, std::string_view bytes) {
  Client client(port);
  client.Send(bytes);
  return client.Read();
}

// "HTTP/1.1 404 ..." as 404; 0: it is no answer.
inline int StatusOf(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
}

// Without the head.
inline std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace kstream::http

#endif  // KSTREAM_TESTS_UNIT_HTTP_CLIENT_H_
