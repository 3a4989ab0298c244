// MergedFiles: the records of several files in the order of their times; ties, and records without
// a time, in the order of the inputs, tables before streams; a line that is none where it stands.
//
// The next record is known only when every input has shown its head, so an input with nothing there
// yet holds all others: the order depends on nothing but what the files hold. Tested by
// tests/unit/runtime/file_cluster_test.cc.
#ifndef KSTREAM_RUNTIME_MERGED_FILES_H_
#define KSTREAM_RUNTIME_MERGED_FILES_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "kstream/status.h"
#include "runtime/file_cursor.h"

namespace kstream::runtime {

// Belongs to one thread.
class MergedFiles {
 public:
  // `as_read`: every item carries its record as it was read.
  MergedFiles(std::vector<std::unique_ptr<FileCursor>> cursors, bool as_read);

  // Which inputs take part; none at first.
  void SetActive(size_t input, bool active) { inputs_[input].active = active; }

  // Makes the head of every input known, without reading: false when some input has to Read first.
  bool FindHeads();
  // Reads for the inputs that have no head, until `deadline`. False when that is not over yet. The
  // items given so far stay valid only with those who hold the memory of their cursors.
  Result<bool> ReadHeads(std::chrono::steady_clock::time_point deadline);
  // With all heads known: the input whose head comes next; nullopt when all have ended.
  std::optional<size_t> Next() const;

  // The head of an input. May be taken apart; Pop makes room for the one behind it.
  FileItem& Head(size_t input) { return inputs_[input].head; }
  void Pop(size_t input) { inputs_[input].has_head = false; }

  const FileCursor& cursor(size_t input) const { return *inputs_[input].cursor; }
  bool ended(size_t input) const { return inputs_[input].ended; }
  size_t size() const { return inputs_.size(); }

 private:
  struct Input {
    std::unique_ptr<FileCursor> cursor;
    FileItem head;
    bool active = false, has_head = false, ended = false;

    bool lacks_head() const { return active && !ended && !has_head; }
    bool ComesBefore(const Input& other) const;
  };
  std::vector<Input> inputs_;
  const bool as_read_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_MERGED_FILES_H_
