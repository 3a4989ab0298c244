// ChunkReader: a file, pipe or stdin as chunks of whole lines.
//
// Plain read(2) into memory of ours: a mapped file would kill the process with SIGBUS when somebody
// truncates it. A pipe's chunk is what has come so far, so idle input never holds back what is
// there. Tested by tests/unit/transport/file/file_test.cc.
#ifndef KSTREAM_TRANSPORT_FILE_CHUNK_READER_H_
#define KSTREAM_TRANSPORT_FILE_CHUNK_READER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/status.h"

namespace kstream::transport {

// Whole lines, the last one of a file perhaps without its line end. Reuse a chunk for the next
// Next: it keeps its memory.
struct Chunk {
  std::string_view lines;
  int64_t first_line = 0;  // number of the first line, from 0
  bool first_of_file = false;

  std::vector<char> memory;
};

// Belongs to one thread at a time; the stop flag may be set by any thread or a signal handler.
class ChunkReader {
 public:
  // Opens `path`; "-" is stdin. kUsage naming the path when that fails. Once *stop is true, what
  // has not been opened counts as empty.
  static Result<std::unique_ptr<ChunkReader>> Open(const std::string& path,
                                                   const std::atomic<bool>& stop);
  ~ChunkReader();

  enum class Got : uint8_t { kChunk, kNothing, kEnd };
  // Fills *chunk when at least one whole line comes within `wait`. kNothing, and no line is lost,
  // when none does, or soon after `stop` has become true. A regular file never waits.
  Result<Got> Poll(const std::atomic<bool>& stop, std::chrono::milliseconds wait, Chunk* chunk);

  // Waits as long as it takes; false at the end of input, or soon after `stop` has become true.
  Result<bool> Next(const std::atomic<bool>& stop, Chunk* chunk);

 private:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  ChunkReader(std::string path, int fd, bool regular);
  Result<Got> Fill(const std::atomic<bool>& stop, const Deadline& deadline, Chunk* chunk);
  // Reads up to `room` bytes; how many, 0 at the end; nullopt when stopped or late.
  Result<std::optional<size_t>> Read(const std::atomic<bool>& stop, const Deadline& deadline,
                                     char* to, size_t room);

  const std::string path_;
  const int fd_;
  const bool regular_;  // never blocks: worth filling a chunk before it is handed on
  std::string carry_;   // what has been read and not handed on: the beginning of a line, mostly
  int64_t lines_ = 0;   // handed on so far
  bool first_ = true, end_ = false;
};

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_FILE_CHUNK_READER_H_
