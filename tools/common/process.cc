#include "common/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

namespace kstream::tools {
namespace {

// A signal that comes so soon after the first is the same one told twice: timeout(1) signals its
// child and then the whole group, the child once more.
constexpr int64_t kSameSignalMs = 200;

std::atomic<Runtime*> running{nullptr};
std::atomic<int64_t> stopped_at{0};  // when the first signal came; 0: none has

int64_t NowMs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

void HandleSignal(int signal) {
  const int saved = errno;
  const int64_t now = NowMs();
  int64_t first = 0;
  if (stopped_at.compare_exchange_strong(first, now)) {
    if (Runtime* runtime = running.load()) runtime->Stop();
  } else if (now - first >= kSameSignalMs) {
    _exit(128 + signal);
  }
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
  const sigset_t commands = CommandSignals();
  sigprocmask(SIG_BLOCK, &commands, nullptr);
  // The wrong direction, so that using such a stream fails.
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) _exit(2);
  }
}

sigset_t CommandSignals() {
  sigset_t commands;
  sigemptyset(&commands);
  sigaddset(&commands, SIGUSR1);
  sigaddset(&commands, SIGUSR2);
  return commands;
}

StopOnSignal::StopOnSignal(Runtime& runtime) {
  running = &runtime;
  Handle(SIGINT, HandleSignal);
  Handle(SIGTERM, HandleSignal);
}

StopOnSignal::~StopOnSignal() { running = nullptr; }

Result<bool> TryWriteStdout(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) return WriteError(errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

Status WriteStdout(std::string_view text) { return TryWriteStdout(text).status(); }

Status CloseStdout() {
  // EBADF: the library has closed it, and has told what it found.
  if (close(STDOUT_FILENO) == 0 || errno == EBADF || errno == EPIPE) return Status::Ok();
  return WriteError(errno);
}

}  // namespace kstream::tools
