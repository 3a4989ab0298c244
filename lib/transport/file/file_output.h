// FileOutput: a file, pipe or stdout that takes encoded records, in order, and never loses an
// error.
//
// A reader that has gone away (EPIPE) is a normal end, as `| head` makes one: closed() becomes true
// and what is written after that is dropped. Tested by
// tests/unit/transport/file/file_test.cc.
#ifndef KSTREAM_TRANSPORT_FILE_FILE_OUTPUT_H_
#define KSTREAM_TRANSPORT_FILE_FILE_OUTPUT_H_

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/status.h"

namespace kstream::transport {

// A regular file, whatever its name: symbolic and hard links, redirections and relative paths come
// to one.
struct FileId {
  uint64_t device, number;
  auto operator<=>(const FileId&) const = default;
};
// Nothing for what is no regular file: a pipe or a device is not spoilt by a second use.
std::optional<FileId> IdOf(int fd);
// Of an input that is named so; "-" is stdin.
std::optional<FileId> IdOfInput(const std::string& path);

// Thread-safe: each Write is in one piece.
class FileOutput {
 public:
  // Creates `path` if it is missing and leaves what it holds, to be written over or, with `append`,
  // added to; "-" is stdout. kData naming the path when that fails.
  static Result<std::unique_ptr<FileOutput>> Open(const std::string& path, bool append = false);
  ~FileOutput();

  std::optional<FileId> id() const { return IdOf(fd_); }
  // Empties the file, once it is certain that nothing else needs it.
  Status Truncate();

  // kData on any failure but EPIPE. The process must ignore SIGPIPE.
  Status Write(std::string_view bytes);
  // Reports what only closing shows (a full disk behind a network file system).
  Status Close();
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  FileOutput(std::string path, int fd, bool standard);
  Status Failed() const;

  const std::string path_;
  int fd_;
  const bool standard_;  // stdout, by a descriptor of our own
  std::mutex mutex_;
  std::atomic<bool> closed_{false};
};

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_FILE_FILE_OUTPUT_H_
