#include "transport/file/chunk_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kstream::transport {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr size_t kMaxLine = 1 << 30;
constexpr int kStopCheckMs = 50;  // how late a stop may be noticed while a pipe is idle

// The last line needs no line end. Counted in blocks whose count fits a byte, which compilers turn
// into a few instructions for sixteen bytes.
int64_t CountLines(std::string_view lines) {
  constexpr size_t kBlock = 240;
  int64_t count = lines.empty() || lines.back() == '\n' ? 0 : 1;
  for (; !lines.empty(); lines.remove_prefix(std::min(kBlock, lines.size()))) {
    uint8_t found = 0;
    for (const char c : lines.substr(0, kBlock)) found += c == '\n';
    count += found;
  }
  return count;
}

}  // namespace

Result<std::unique_ptr<ChunkReader>> ChunkReader::Open(const std::string& path,
                                                       const std::atomic<bool>& stop) {
  int fd = STDIN_FILENO;
  if (path != "-") {
    // A named pipe keeps us waiting here until somebody writes to it, so a signal must get through.
    do {
      fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR && !stop);
    if (fd < 0 && errno == EINTR) fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  struct stat info = {};
  if (fd < 0 || fstat(fd, &info) != 0) {
    return Status::Usage(
        fmt::format("cannot read {}: {}", path == "-" ? "stdin" : path, std::strerror(errno)));
  }
  if (S_ISDIR(info.st_mode)) {
    if (fd != STDIN_FILENO) close(fd);
    return Status::Usage(fmt::format("cannot read {}: it is a directory", path));
  }
  return std::unique_ptr<ChunkReader>(
      new ChunkReader(path == "-" ? "stdin" : path, fd, S_ISREG(info.st_mode)));
}

ChunkReader::ChunkReader(std::string path, int fd, bool regular)
    : path_(std::move(path)), fd_(fd), regular_(regular) {}

ChunkReader::~ChunkReader() {
  if (fd_ != STDIN_FILENO) close(fd_);
}

Result<size_t> ChunkReader::Read(const std::atomic<bool>& stop, char* to, size_t room) {
  while (!stop.load(std::memory_order_relaxed)) {
    if (!regular_) {
      pollfd wait = {fd_, POLLIN, 0};
      if (const int ready = poll(&wait, 1, kStopCheckMs);
          ready == 0 || (ready < 0 && errno == EINTR))
        continue;
    }
    const ssize_t got = read(fd_, to, room);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR && errno != EAGAIN) {
      return Status::Data(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    }
  }
  return size_t{0};
}

Result<bool> ChunkReader::Next(const std::atomic<bool>& stop, Chunk* chunk) {
  std::vector<char>& memory = chunk->memory;
  memory.resize(std::max({memory.size(), kChunk, carry_.size() * 2}));
  std::copy(carry_.begin(), carry_.end(), memory.begin());
  size_t used = carry_.size(), whole = 0;  // whole: end of the last line that is complete
  while (!end_) {
    if (used == memory.size()) {
      if (whole > 0) break;
      if (used >= kMaxLine)
        return Status::Data(fmt::format("{}:{}: a line of more than 1 GiB", path_, lines_ + 1));
      memory.resize(used * 2);
    }
    KSTREAM_ASSIGN_OR_RETURN(const size_t got,
                             Read(stop, memory.data() + used, memory.size() - used));
    if (stop.load(std::memory_order_relaxed)) return false;
    end_ = got == 0;
    const void* newline = memrchr(memory.data() + used, '\n', got);
    used += got;
    if (newline) whole = static_cast<size_t>(static_cast<const char*>(newline) + 1 - memory.data());
    if (whole > 0 && !regular_) break;
  }
  if (end_) whole = used;  // the last line needs no line end
  carry_.assign(memory.data() + whole, used - whole);
  chunk->lines = {memory.data(), whole};
  chunk->first_line = lines_;
  chunk->first_of_file = first_;
  first_ = false;
  lines_ += CountLines(chunk->lines);
  return whole > 0;
}

}  // namespace kstream::transport
