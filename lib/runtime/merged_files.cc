#include "runtime/merged_files.h"

#include <algorithm>
#include <utility>

#include "task/record_queues.h"

namespace kstream::runtime {
namespace {

// What orders a head: a bad line has no time and is told where it stands.
int64_t HeadTime(const FileItem& item) {
  return item.status.ok() ? task::OrderTime(item.record) : INT64_MIN;
}

}  // namespace

MergedFiles::MergedFiles(std::vector<std::unique_ptr<FileCursor>> cursors, bool as_read)
    : as_read_(as_read) {
  for (auto& cursor : cursors) inputs_.emplace_back().cursor = std::move(cursor);
}

bool MergedFiles::Input::ComesBefore(const Input& other) const {
  const int64_t time = HeadTime(head), other_time = HeadTime(other.head);
  if (time != other_time) return time < other_time;
  return cursor->source()->table && !other.cursor->source()->table;
}

bool MergedFiles::FindHeads() {
  bool all = true;
  for (Input& input : inputs_) {
    if (!input.lacks_head()) continue;
    input.has_head = input.cursor->Next(as_read_, &input.head);
    all &= input.has_head;
  }
  return all;
}

Result<bool> MergedFiles::ReadHeads(std::chrono::steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  for (Input& input : inputs_) {
    while (input.lacks_head()) {
      const auto left =
          std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
      KSTREAM_ASSIGN_OR_RETURN(const FileCursor::Got got,
                               input.cursor->Read(std::max(left, milliseconds(0))));
      if (got == FileCursor::Got::kNothing) return false;
      if (got == FileCursor::Got::kEnd) {
        input.ended = true;
      } else {
        input.has_head = input.cursor->Next(as_read_, &input.head);
      }
    }
  }
  return true;
}

std::optional<size_t> MergedFiles::Next() const {
  std::optional<size_t> next;
  for (size_t i = 0; i < inputs_.size(); i++) {
    if (!inputs_[i].has_head || !inputs_[i].active) continue;
    if (!next || inputs_[i].ComesBefore(inputs_[*next])) next = i;
  }
  return next;
}

}  // namespace kstream::runtime
