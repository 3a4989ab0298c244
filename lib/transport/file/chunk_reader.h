// ChunkReader: a file, pipe or stdin as chunks of whole lines.
//
// Plain read(2) into memory of ours: a mapped file would kill the process with SIGBUS when somebody
// truncates it. A pipe's chunk is what has come so far, so idle input never holds back what is
// there. Tested by tests/unit/transport/file/chunk_reader_test.cc.
#ifndef KSTREAM_TRANSPORT_FILE_CHUNK_READER_H_
#define KSTREAM_TRANSPORT_FILE_CHUNK_READER_H_

#include <atomic>
#include <cstdint>
#include <memory>
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

  // Fills *chunk; false at the end of input, or soon after *stop has become true. Waits otherwise.
  Result<bool> Next(const std::atomic<bool>& stop, Chunk* chunk);

 private:
  ChunkReader(std::string path, int fd, bool regular);
  // Reads into memory[used..]; how many bytes, 0 at the end or when stopped.
  Result<size_t> Read(const std::atomic<bool>& stop, char* to, size_t room);

  const std::string path_;
  const int fd_;
  const bool regular_;  // never blocks: worth filling a chunk before it is handed on
  std::string carry_;   // the beginning of a line whose end has not been read
  int64_t lines_ = 0;   // handed on so far
  bool first_ = true, end_ = false;
};

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_FILE_CHUNK_READER_H_
