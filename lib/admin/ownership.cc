#include "admin/ownership.h"

#include "runtime/manifest.h"

namespace kstream::admin {
namespace {

constexpr std::string_view kChangelog = "-changelog", kRepartition = "-repartition";

}  // namespace

bool LooksInternal(std::string_view app, std::string_view topic) {
  if (topic == runtime::TasksTopic(app)) return true;
  if (!topic.starts_with(app)) return false;
  topic.remove_prefix(app.size());
  return topic.starts_with('-') && (topic.ends_with(kChangelog) || topic.ends_with(kRepartition)) &&
         topic.find('-', 1) != topic.npos;
}

// An owner's name is what stands before some dash.
Result<std::optional<std::string>> OtherOwner(transport::Cluster* home, const Clock* clock,
                                              std::string_view app, std::string_view topic) {
  for (size_t dash = topic.find('-'); dash != topic.npos; dash = topic.find('-', dash + 1)) {
    const std::string other(topic.substr(0, dash));
    if (other.empty() || other == app) continue;
    KSTREAM_ASSIGN_OR_RETURN(const auto manifest, runtime::ManifestLog(home, other, clock).Read());
    if (manifest && manifest->Find(topic) != nullptr) return std::optional(other);
  }
  return std::optional<std::string>();
}

Result<std::vector<std::string>> Unclaimed(transport::Cluster* home, const Clock* clock,
                                           std::string_view app) {
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, home->NewAdmin());
  KSTREAM_ASSIGN_OR_RETURN(const auto topics, admin->Topics("^."));
  std::vector<std::string> unclaimed;
  for (const auto& [topic, partitions] : topics) {
    if (!LooksInternal(app, topic)) continue;
    KSTREAM_ASSIGN_OR_RETURN(const auto owner, OtherOwner(home, clock, app, topic));
    if (!owner) unclaimed.push_back(topic);
  }
  return unclaimed;
}

}  // namespace kstream::admin
