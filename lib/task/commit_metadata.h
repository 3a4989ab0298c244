// CommitMetadata: what a task keeps at home beside its offsets, in the metadata of the commit of
// its lead partition (engine: stream time must survive a restart, or closed windows would open
// again; positions of inputs that no offset of the group can hold, because they lie in another
// cluster or are read by every task, live here too).
//
// Text of one line: "ks1 t=<ms> p=<cluster>/<topic>/<partition>:<offset>,..." with what is not
// there left out and names percent-encoded where needed. At most 4 096 bytes, the broker's default
// limit. Tested by tests/unit/task/commit_metadata_test.cc.
#ifndef KSTREAM_TASK_COMMIT_METADATA_H_
#define KSTREAM_TASK_COMMIT_METADATA_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/grouper.h"
#include "kstream/status.h"

namespace kstream::task {

struct CommitMetadata {
  std::optional<int64_t> stream_time;           // ms since the epoch
  std::map<InputPartition, int64_t> positions;  // offset of the next record to read

  // Empty when there is nothing to keep. kUsage: too many positions for the limit, and how many
  // would fit.
  Result<std::string> Encode() const;
  // Empty text, and text that another program wrote, is nothing kept; kState: ours, but of a newer
  // version or damaged.
  static Result<CommitMetadata> Decode(std::string_view text);

  bool operator==(const CommitMetadata&) const = default;
};

}  // namespace kstream::task

#endif  // KSTREAM_TASK_COMMIT_METADATA_H_
