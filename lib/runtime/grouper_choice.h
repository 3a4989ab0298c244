// GrouperChoice: which of the groupers lays out the tasks of a stage. What they do is in layout.h.
// Tested by tests/unit/runtime/layout_test.cc.
#ifndef KSTREAM_RUNTIME_GROUPER_CHOICE_H_
#define KSTREAM_RUNTIME_GROUPER_CHOICE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/grouper.h"
#include "kstream/status.h"

namespace kstream::runtime {

// As --grouper and messages call a topic: CLUSTER:TOPIC elsewhere than at home; a file by its path.
std::string NameOfTopic(const std::string& cluster, const std::string& topic);
inline std::string NameOfTopic(const InputTopic& topic) {
  return NameOfTopic(topic.cluster, topic.topic);
}

// What --grouper says.
struct GrouperChoice {
  enum class Kind : uint8_t { kDefault, kSingle, kByTopic, kBroadcast, kCustom };

  Kind kind = Kind::kDefault;
  std::string broadcast;  // of kBroadcast: TOPIC, or CLUSTER:TOPIC
  Grouper custom;         // of kCustom

  // `custom`, where there is one, takes the place of `name`. kUsage: no such grouper,
  // without the name of the flag.
  static Result<GrouperChoice> Parse(std::string_view name, Grouper custom = nullptr);
  // As Parse reads it; "custom" for a function. The manifest records it.
  std::string ToString() const;
  // What it is to a stage with these inputs, whose counts do not matter here.
  GrouperChoice OfStage(const std::vector<InputTopic>& topics) const;
  // kUsage: TOPIC of broadcast is none of `topics`, the inputs of all stages.
  Status CheckRead(const std::vector<InputTopic>& topics) const;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_GROUPER_CHOICE_H_
