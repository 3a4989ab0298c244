// FromSpec: --from, where to begin in a partition that has no usable commit, and where to stop.
//
//   beginning | end | N (an offset) | -N (the last N of each partition) | @TIME | @T1:T2
//
// TIME is ms since the epoch, RFC 3339, or a duration ago ("-1h"). Tested by
// tests/unit/runtime/from_spec_test.cc.
#ifndef KSTREAM_RUNTIME_FROM_SPEC_H_
#define KSTREAM_RUNTIME_FROM_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "kstream/status.h"
#include "transport/admin.h"

namespace kstream::runtime {

struct FromSpec {
  enum class Kind { kBeginning, kEnd, kOffset, kLast, kTime };
  Kind kind = Kind::kBeginning;
  int64_t number = 0;                 // kOffset, kLast: the number; kTime: ms since the epoch
  std::optional<int64_t> until_time;  // of @T1:T2, ms since the epoch, exclusive

  // kUsage saying what is wrong, without the name of the flag. `now` in ms since the epoch.
  static Result<FromSpec> Parse(std::string_view text, int64_t now);

  // The offset of each partition to begin at, within its log. kCluster on failure.
  Result<std::map<transport::TopicPartition, int64_t>> Resolve(
      transport::Admin* admin, std::span<const transport::TopicPartition> partitions) const;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_FROM_SPEC_H_
