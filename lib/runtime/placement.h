// Placement: whether keys lie where they meet their like in other topics.
//
// Task i of a stage that brings several topics together reads partition i of each, so equal keys
// meet if all who write the topics place keys alike: by murmur2, as Java's and kstream's producers
// do, and librdkafka's own default does not. Where a key lies elsewhere that is told, once a topic:
// what does not meet would else be missing without a word. Tested by
// tests/unit/testdriver/joins_test.cc and tests/broker/join.bats.
#ifndef KSTREAM_RUNTIME_PLACEMENT_H_
#define KSTREAM_RUNTIME_PLACEMENT_H_

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "kstream/grouper.h"
#include "kstream/record.h"

namespace kstream::runtime {

// Of a run. Any thread.
class Placement {
 public:
  // Tells of a record of `partition`, one of `count`, that is not where its key would be. False:
  // nothing was wrong with it.
  bool Check(const InputPartition& partition, int32_t count, const Record& record);

 private:
  std::mutex mutex_;  // guards told_
  std::set<std::pair<std::string, std::string>> told_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_PLACEMENT_H_
