// FileOutput: a file, pipe or stdout that takes encoded records, in order, and never loses an
// error.
//
// A reader that has gone away (EPIPE) is a normal end, as `| head` makes one: closed() becomes true
// and what is written after that is dropped. Tested by
// tests/unit/transport/file/file_output_test.cc.
#ifndef KSTREAM_TRANSPORT_FILE_FILE_OUTPUT_H_
#define KSTREAM_TRANSPORT_FILE_FILE_OUTPUT_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "kstream/status.h"

namespace kstream::transport {

// Thread-safe: each Write is in one piece.
class FileOutput {
 public:
  // Truncates or creates `path`; "-" is stdout. kData naming the path when that fails.
  static Result<std::unique_ptr<FileOutput>> Open(const std::string& path);
  ~FileOutput();

  // kData on any failure but EPIPE. The process must ignore SIGPIPE.
  Status Write(std::string_view bytes);
  // Reports what only closing shows (a full disk behind a network file system).
  Status Close();
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  FileOutput(std::string path, int fd);
  Status Failed() const;

  const std::string path_;
  int fd_;
  std::mutex mutex_;
  std::atomic<bool> closed_{false};
};

// Whether two paths name one existing file. "-" is no file.
bool SameFile(const std::string& a, const std::string& b);

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_FILE_FILE_OUTPUT_H_
