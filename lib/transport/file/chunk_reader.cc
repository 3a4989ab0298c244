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

using Clock = std::chrono::steady_clock;

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

Result<std::optional<size_t>> ChunkReader::Read(const std::atomic<bool>& stop,
                                                const Deadline& deadline, char* to, size_t room) {
  using std::chrono::milliseconds;
  while (!stop.load(std::memory_order_relaxed)) {
    if (!regular_) {
      milliseconds left(kStopCheckMs);
      if (deadline) {
        const auto until = std::chrono::ceil<milliseconds>(*deadline - Clock::now());
        left = std::clamp(until, milliseconds(0), left);
      }
      pollfd wait = {fd_, POLLIN, 0};
      const int ready = poll(&wait, 1, static_cast<int>(left.count()));
      if (ready == 0 || (ready < 0 && errno == EINTR)) {
        if (deadline && Clock::now() >= *deadline) return std::optional<size_t>();
        continue;
      }
    }
    const ssize_t got = read(fd_, to, room);
    if (got >= 0) return std::optional<size_t>(got);
    if (errno != EINTR && errno != EAGAIN) {
      return Status::Data(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    }
  }
  return std::optional<size_t>();
}

Result<ChunkReader::Got> ChunkReader::Poll(const std::atomic<bool>& stop,
                                           std::chrono::milliseconds wait, Chunk* chunk) {
  return Fill(stop, Clock::now() + wait, chunk);
}

Result<bool> ChunkReader::Next(const std::atomic<bool>& stop, Chunk* chunk) {
  KSTREAM_ASSIGN_OR_RETURN(const Got got, Fill(stop, std::nullopt, chunk));
  return got == Got::kChunk;
}

Result<ChunkReader::Got> ChunkReader::Fill(const std::atomic<bool>& stop, const Deadline& deadline,
                                           Chunk* chunk) {
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
    KSTREAM_ASSIGN_OR_RETURN(const std::optional<size_t> got,
                             Read(stop, deadline, memory.data() + used, memory.size() - used));
    if (!got) {
      carry_.assign(memory.data(), used);
      return Got::kNothing;
    }
    end_ = *got == 0;
    const void* newline = memrchr(memory.data() + used, '\n', *got);
    used += *got;
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
  return whole > 0 ? Got::kChunk : Got::kEnd;
}

}  // namespace kstream::transport
