// Connection: a socket of one request, on which nothing takes forever: each wait ends at a deadline
// or when the server does. Tested by tests/unit/http/listener_test.cc.
#ifndef KSTREAM_HTTP_CONNECTION_H_
#define KSTREAM_HTTP_CONNECTION_H_

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "http/listener.h"

namespace kstream::http {

// Belongs to one thread.
class Connection {
 public:
  // Owns the socket. `stop` ends every wait.
  Connection(int fd, const Limits& limits, const std::atomic<bool>* stop);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }
  bool good() const { return !failed_; }
  // Why nothing more is read: the head was longer than the limit, or took longer.
  bool overlong() const { return overlong_; }
  bool late() const { return late_; }
  // Whether any of an answer was written.
  bool answered() const { return answered_; }

  // As read(2), of the head alone; -1: nothing more is read.
  ssize_t Read(char* to, size_t most);
  // All of it, or false.
  bool Write(std::string_view bytes);
  // Nothing more is written.
  void Fail() { failed_ = true; }

  // Says this without waiting for anything.
  void TurnAway(std::string_view bytes);
  // Tells the end, and waits a moment for the peer to see it: a close with bytes unread would take
  // the answer away from it.
  void Close();

 private:
  using Clock = std::chrono::steady_clock;
  // Whether the socket is ready for `events` before the deadline.
  bool Await(short events, Clock::time_point deadline) const;

  const int fd_;
  const Limits limits_;
  const std::atomic<bool>* const stop_;
  const Clock::time_point head_until_;
  size_t head_left_;
  std::array<char, 4096> buffer_;  // the library reads byte by byte
  size_t begin_ = 0, end_ = 0;
  bool failed_ = false, overlong_ = false, late_ = false, answered_ = false;
};

}  // namespace kstream::http

#endif  // KSTREAM_HTTP_CONNECTION_H_
