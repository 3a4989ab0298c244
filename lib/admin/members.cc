#include "admin/members.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <vector>

#include "base/printable.h"
#include "runtime/run_state.h"
#include "transport/timeouts.h"

namespace kstream::admin {
namespace {

// How long brokers wait for one that is silent, unless it said otherwise when it joined.
std::chrono::milliseconds SessionOf(const ClusterOptions& home) {
  return runtime::MillisecondsOf(home.consumer, "session.timeout.ms", transport::kSessionTimeout);
}

}  // namespace

// Lists who is there. Static members do not leave by themselves.
Status CheckNoMembers(const std::string& app, const transport::GroupDescription& group,
                      const ClusterOptions& home) {
  if (group.members.empty()) return Status::Ok();
  std::vector<std::string> shown;
  bool is_static = false;
  for (const transport::GroupMember& member : group.members) {
    is_static |= !member.instance_id.empty();
    shown.push_back(
        Printable(member.instance_id.empty()
                      ? fmt::format("{} on {}", member.member_id, member.host)
                      : fmt::format("{} on {} (static)", member.instance_id, member.host)));
  }
  std::string text = fmt::format("application {} has {} member{}: stop {} first: {}", app,
                                 shown.size(), shown.size() == 1 ? "" : "s",
                                 shown.size() == 1 ? "it" : "them", fmt::join(shown, ", "));
  if (is_static) {
    text += fmt::format(
        "; a static member that was stopped stays for its session timeout, so try "
        "again in {} s at most",
        (SessionOf(home).count() + 999) / 1000);
  }
  return Status::Refused(std::move(text));
}

}  // namespace kstream::admin
