#include "runtime/grouper_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/run_state.h"

namespace kstream::runtime {
namespace {

std::string NamesOf(const std::vector<InputTopic>& topics) {
  std::vector<std::string> names;
  for (const InputTopic& topic : topics) names.push_back(NameOfTopic(topic));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool IsOne(const std::string& name, const std::vector<InputTopic>& topics) {
  return std::ranges::any_of(topics, [&](const auto& topic) { return NameOfTopic(topic) == name; });
}

}  // namespace

std::string NameOfTopic(const std::string& cluster, const std::string& topic) {
  return cluster.empty() || cluster == kFiles ? topic : fmt::format("{}:{}", cluster, topic);
}

Result<GrouperChoice> GrouperChoice::Parse(std::string_view name, Grouper custom) {
  constexpr std::string_view kBroadcastPrefix = "broadcast:";
  if (custom) return GrouperChoice{.kind = Kind::kCustom, .broadcast = {}, .custom = custom};
  if (name == "default") return GrouperChoice{};
  GrouperChoice choice;
  if (name == "single") {
    choice.kind = Kind::kSingle;
  } else if (name == "by-topic") {
    choice.kind = Kind::kByTopic;
  } else if (name.starts_with(kBroadcastPrefix) && name.size() > kBroadcastPrefix.size()) {
    choice.kind = Kind::kBroadcast;
    choice.broadcast = name.substr(kBroadcastPrefix.size());
  } else {
    return Status::Usage(
        fmt::format("'{}' is none of default, single, by-topic, broadcast:TOPIC", name));
  }
  return choice;
}

std::string GrouperChoice::ToString() const {
  switch (kind) {
    case Kind::kSingle:
      return "single";
    case Kind::kByTopic:
      return "by-topic";
    case Kind::kBroadcast:
      return "broadcast:" + broadcast;
    case Kind::kCustom:
      return "custom";
    default:
      return "default";
  }
}

GrouperChoice GrouperChoice::OfStage(const std::vector<InputTopic>& topics) const {
  if (kind == Kind::kBroadcast && !IsOne(broadcast, topics)) return {};
  return *this;
}

Status GrouperChoice::CheckRead(const std::vector<InputTopic>& topics) const {
  if (kind != Kind::kBroadcast || IsOne(broadcast, topics)) return Status::Ok();
  return Status::Usage(fmt::format("--grouper broadcast:{}: no such input; the inputs are {}",
                                   broadcast, NamesOf(topics)));
}

}  // namespace kstream::runtime
