#include "transport/file/file_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kstream::transport {

Result<std::unique_ptr<FileOutput>> FileOutput::Open(const std::string& path, bool append) {
  const bool standard = path == "-";
  // A descriptor of our own: stdout itself stays open for the program. Without a stdout the first
  // Write says so.
  const int fd =
      standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
               : open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : 0), 0666);
  if (fd < 0 && !standard) {
    return Status::Data(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return std::unique_ptr<FileOutput>(new FileOutput(standard ? "stdout" : path, fd, standard));
}

FileOutput::FileOutput(std::string path, int fd, bool standard)
    : path_(std::move(path)), fd_(fd), standard_(standard) {}

FileOutput::~FileOutput() {
  if (fd_ >= 0) close(fd_);
}

Status FileOutput::Failed() const {
  return Status::Data(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
}

Status FileOutput::Truncate() {
  // What is no regular file has nothing to empty, and stdout is the shell's business.
  if (standard_ || !IdOf(fd_) || ftruncate(fd_, 0) == 0) return Status::Ok();
  return Failed();
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
  if (close(fd) != 0 && errno != EINTR) return Failed();
  return Status::Ok();
}

std::optional<FileId> IdOf(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileId{info.st_dev, info.st_ino};
}

std::optional<FileId> IdOfInput(const std::string& path) {
  if (path == "-") return IdOf(STDIN_FILENO);
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileId{info.st_dev, info.st_ino};
}

}  // namespace kstream::transport
