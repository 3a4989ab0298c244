#include "transport/file/file_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kstream::transport {

Result<std::unique_ptr<FileOutput>> FileOutput::Open(const std::string& path) {
  const bool standard = path == "-";
  const int fd =
      standard ? STDOUT_FILENO : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Status::Data(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  return std::unique_ptr<FileOutput>(new FileOutput(standard ? "stdout" : path, fd));
}

FileOutput::FileOutput(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

FileOutput::~FileOutput() {
  if (fd_ > STDERR_FILENO) close(fd_);
}

Status FileOutput::Failed() const {
  return Status::Data(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
}

Status FileOutput::Write(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  while (!bytes.empty() && !closed()) {
    const ssize_t put = write(fd_, bytes.data(), bytes.size());
    if (put >= 0) {
      bytes.remove_prefix(static_cast<size_t>(put));
    } else if (errno == EPIPE) {
      closed_.store(true, std::memory_order_relaxed);
    } else if (errno == EAGAIN) {
      pollfd room = {fd_, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return Failed();
    }
  }
  return Status::Ok();
}

Status FileOutput::Close() {
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) return Status::Ok();
  const int fd = fd_;
  fd_ = -1;
  // A process without a stdout is only an error if something was to be written there: Write said
  // so.
  if (close(fd) != 0 && errno != EBADF && errno != EINTR) return Failed();
  return Status::Ok();
}

bool SameFile(const std::string& a, const std::string& b) {
  struct stat first = {}, second = {};
  if (a == "-" || b == "-" || stat(a.c_str(), &first) != 0 || stat(b.c_str(), &second) != 0)
    return false;
  return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace kstream::transport
