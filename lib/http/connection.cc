#include "http/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kstream::http {
namespace {

using std::chrono::milliseconds;

// Nothing wakes a wait when the server ends.
constexpr milliseconds kStopCheck{50};
constexpr milliseconds kLinger{500};
constexpr size_t kMostLingered = 64 << 10;

}  // namespace

Connection::Connection(int fd, const Limits& limits, const std::atomic<bool>* stop)
    : fd_(fd),
      limits_(limits),
      stop_(stop),
      head_until_(Clock::now() + limits.request),
      head_left_(limits.head) {
  fcntl(fd, F_SETFD, FD_CLOEXEC);
}

Connection::~Connection() { close(fd_); }

bool Connection::Await(short events, Clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (*stop_ || left.count() <= 0) return false;
    pollfd waited{fd_, events, 0};
    const int ready = poll(&waited, 1, static_cast<int>(std::min(left, kStopCheck).count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

ssize_t Connection::Read(char* to, size_t most) {
  if (overlong_ || late_) return -1;
  if (begin_ == end_) {
    if (head_left_ == 0) {
      overlong_ = true;
      return -1;
    }
    if (!Await(POLLIN, head_until_)) {
      late_ = true;
      return -1;
    }
    const ssize_t got =
        recv(fd_, buffer_.data(), std::min(buffer_.size(), head_left_), MSG_DONTWAIT);
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<size_t>(got);
    head_left_ -= end_;
  }
  const size_t size = std::min(most, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, size);
  begin_ += size;
  return static_cast<ssize_t>(size);
}

bool Connection::Write(std::string_view bytes) {
  const Clock::time_point deadline = Clock::now() + limits_.write;
  while (!failed_ && !bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      answered_ = true;
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (sent == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) ||
               !Await(POLLOUT, deadline)) {
      failed_ = true;
    }
  }
  return !failed_;
}

void Connection::TurnAway(std::string_view bytes) {
  static_cast<void>(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  shutdown(fd_, SHUT_WR);
  // See Close: what is here already must not be left unread.
  static_cast<void>(recv(fd_, buffer_.data(), buffer_.size(), MSG_DONTWAIT));
}

void Connection::Close() {
  if (failed_ || shutdown(fd_, SHUT_WR) != 0) return;
  const Clock::time_point deadline = Clock::now() + kLinger;
  for (size_t read = 0; read < kMostLingered && Await(POLLIN, deadline);) {
    const ssize_t got = recv(fd_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got <= 0) return;
    read += static_cast<size_t>(got);
  }
}

}  // namespace kstream::http
