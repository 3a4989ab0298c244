// Location: one rule for every SRC and DST of the command line. Tested by
// tests/unit/topology/location_test.cc.
#include "kstream/location.h"

namespace kstream {

Result<Location> Location::Parse(std::string_view text, bool brokers,
                                 const std::set<std::string>& clusters) {
  constexpr std::string_view kFilePrefix = "file:", kTopicPrefix = "topic:";
  Location location;
  std::string_view name = text;
  bool topic = brokers && text != "-";
  if (name.starts_with(kFilePrefix)) {
    name.remove_prefix(kFilePrefix.size());
    topic = false;
  } else {
    if (name.starts_with(kTopicPrefix)) {
      name.remove_prefix(kTopicPrefix.size());
      topic = true;
    }
    if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
      // A topic's name holds no colon, so a known cluster before one is a cluster.
      if (std::string cluster(name.substr(0, colon)); clusters.contains(cluster)) {
        location.cluster = std::move(cluster);
        name.remove_prefix(colon + 1);
        topic = true;
      }
    }
  }
  if (name.empty())
    return Status::Usage("an empty input or output name: give a path, a topic, or -");
  location.kind = topic ? Kind::kTopic : Kind::kFile;
  location.name = name;
  return location;
}

std::string Location::ToString() const {
  switch (kind) {
    case Kind::kFile:
      return name == "-" ? name : "file:" + name;
    case Kind::kTopic:
      return "topic:" + (cluster.empty() ? "" : cluster + ":") + name;
    case Kind::kRepartition:
      break;
  }
  return "repartition:" + name;
}

}  // namespace kstream
