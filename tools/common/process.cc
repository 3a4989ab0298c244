#include "common/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace kstream::tools {
namespace {

std::atomic<Runtime*> running{nullptr};
std::atomic<bool> stopping{false};

void HandleSignal(int signal) {
  int saved = errno;
  if (stopping.exchange(true)) _exit(128 + signal);
  if (Runtime* runtime = running.load()) runtime->Stop();
  errno = saved;
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART: a read that waits for input comes back.
  sigaction(signal, &action, nullptr);
}

Status WriteError(int error) {
  return Status::Data(fmt::format("stdout: cannot be written: {}", std::strerror(error)));
}

}  // namespace

void PrepareProcess() {
  Handle(SIGPIPE, SIG_IGN);
  // The wrong direction, so that using such a stream fails.
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) _exit(2);
  }
}

StopOnSignal::StopOnSignal(Runtime& runtime) {
  running = &runtime;
  Handle(SIGINT, HandleSignal);
  Handle(SIGTERM, HandleSignal);
}

StopOnSignal::~StopOnSignal() { running = nullptr; }

Status WriteStdout(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno == EPIPE ? Status::Ok() : WriteError(errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return Status::Ok();
}

Status CloseStdout() {
  // EBADF: the library has closed it, and has told what it found.
  if (close(STDOUT_FILENO) == 0 || errno == EBADF || errno == EPIPE) return Status::Ok();
  return WriteError(errno);
}

}  // namespace kstream::tools
