#include "runtime/group_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <utility>

#include "base/stopped.h"
#include "kstream/log.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDescribeLimit{30'000};
constexpr milliseconds kEqualLimit{10'000};
constexpr milliseconds kBeyondSession{5'000};  // for the rebalance that the leaving makes

int64_t Seconds(milliseconds time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

// Takes "`name`=value" up to `after`, or all that is left without one.
std::optional<std::string_view> Take(std::string_view* text, std::string_view name, char after) {
  if (!text->starts_with(name) || !text->substr(name.size()).starts_with('=')) return std::nullopt;
  text->remove_prefix(name.size() + 1);
  const size_t end = after == '\0' ? text->size() : text->find(after);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view value = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return value;
}

bool IsHex(std::string_view text, size_t least, size_t most) {
  return text.size() >= least && text.size() <= most &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

template <typename T>
std::optional<T> ToNumber(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Whoever may read as a member may describe the group by Kafka's own rules; an authoriser of
// another make can see that otherwise, and it does not change its mind while we wait.
bool IsUnauthorised(const Status& status) {
  return status.message().find("not authorised") != std::string_view::npos;
}

}  // namespace

std::string MemberTag::ToClientId() const {
  return fmt::format("kstream={};version={};instance={};thread={}", hash, version, instance,
                     thread);
}

std::optional<MemberTag> MemberTag::Parse(std::string_view client_id) {
  // The last one is ours: what is before it the user may have called anything.
  const size_t found = client_id.rfind("kstream=");
  if (found == std::string_view::npos) return std::nullopt;
  if (found > 0 && client_id[found - 1] != ';') return std::nullopt;
  std::string_view text = client_id.substr(found);
  const auto hash = Take(&text, "kstream", ';');
  const auto version = Take(&text, "version", ';');
  const auto instance = Take(&text, "instance", ';');
  const auto thread = Take(&text, "thread", '\0');
  if (!hash || !version || !instance || !thread) return std::nullopt;
  const auto version_number = ToNumber<int64_t>(*version);
  const auto thread_number = ToNumber<int32_t>(*thread);
  if (!IsHex(*hash, 1, 64) || !IsHex(*instance, 8, 8) || !version_number || !thread_number ||
      *thread_number < 0) {
    return std::nullopt;
  }
  return MemberTag{.hash = std::string(*hash),
                   .version = *version_number,
                   .instance = std::string(*instance),
                   .thread = *thread_number};
}

std::string NewInstance() {
  std::random_device random;
  return fmt::format("{:08x}", random());
}

GroupCheck::GroupCheck(Options options, std::unique_ptr<transport::Admin> admin, const Clock* clock)
    : options_(std::move(options)), clock_(clock), admin_(std::move(admin)) {}

Result<GroupCheck::Verdict> GroupCheck::Check() {
  const std::lock_guard lock(mutex_);
  if (passed_) return Verdict::kGo;
  KSTREAM_RETURN_IF_ERROR(failed_);
  Result<Verdict> verdict = Judge();
  if (!verdict.ok()) {
    failed_ = verdict.status();
  } else {
    passed_ = *verdict == Verdict::kGo;
  }
  return verdict;
}

Status GroupCheck::Precheck() {
  const std::lock_guard lock(mutex_);
  const auto group = admin_->DescribeGroup(options_.app);
  if (IsStopped(group.status())) return group.status();
  if (!group.ok()) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(LeaveForNewer(*group));
  for (const transport::GroupMember& member : group->members) {
    if (IsOurs(member)) continue;
    const auto tag = MemberTag::Parse(member.client_id);
    if (!tag) return RefuseStranger(member);
    if (tag->hash != options_.mine.hash && tag->version == options_.mine.version) {
      return RefuseOther(member);
    }
  }
  return Status::Ok();
}

Status GroupCheck::Recheck() {
  const std::lock_guard lock(mutex_);
  const auto group = admin_->DescribeGroup(options_.app);
  if (!group.ok()) {
    Log(LogLevel::kDebug, group.status().message());
    return Status::Ok();
  }
  for (const transport::GroupMember& member : group->members) {
    if (MemberTag::Parse(member.client_id) || !warned_.insert(member.member_id).second) continue;
    Log(LogLevel::kWarning,
        fmt::format(
            "application {}: member '{}' on {} is no kstream: the records of the partitions "
            "that it takes do not come here; stop it, or give it another group",
            options_.app, member.client_id, member.host));
  }
  return LeaveForNewer(*group);
}

bool GroupCheck::IsOurs(const transport::GroupMember& member) const {
  const auto tag = MemberTag::Parse(member.client_id);
  if (tag && tag->instance == options_.mine.instance) return true;
  return !options_.instance_id.empty() &&
         member.instance_id.starts_with(options_.instance_id + "-") &&
         ToNumber<int32_t>(
             std::string_view(member.instance_id).substr(options_.instance_id.size() + 1));
}

Status GroupCheck::LeaveForNewer(const transport::GroupDescription& group) const {
  for (const transport::GroupMember& member : group.members) {
    const auto tag = MemberTag::Parse(member.client_id);
    if (!tag || IsOurs(member)) continue;
    if (tag->hash == options_.mine.hash || tag->version <= options_.mine.version) continue;
    return Refuse(member, "is newer and takes over",
                  "this one leaves; start it again with that topology, or under another id (-G)");
  }
  return Status::Ok();
}

Result<GroupCheck::Verdict> GroupCheck::Judge() {
  const auto group = admin_->DescribeGroup(options_.app);
  if (!group.ok()) {
    if (!IsUnauthorised(group.status())) {
      return WaitFor(Wait::kDescription, kDescribeLimit, group.status());
    }
    Log(LogLevel::kWarning,
        fmt::format("{}; whether other programs share the application id is not checked",
                    group.status().message()));
    return Verdict::kGo;
  }
  KSTREAM_RETURN_IF_ERROR(LeaveForNewer(*group));
  bool joined = false;
  const transport::GroupMember *older = nullptr, *equal = nullptr;
  std::string smallest;  // hash of `equal`
  for (const transport::GroupMember& member : group->members) {
    const auto tag = MemberTag::Parse(member.client_id);
    if (!tag) return RefuseStranger(member);
    if (IsOurs(member)) {
      if (tag->hash != options_.mine.hash) return RefuseStale(*tag);
      joined = true;
      continue;
    }
    if (tag->hash == options_.mine.hash) continue;
    if (tag->version < options_.mine.version) {
      older = &member;
    } else if (equal == nullptr || tag->hash < smallest) {
      equal = &member;
      smallest = tag->hash;
    }
  }
  if (equal != nullptr) {
    const Status refused = RefuseOther(*equal);
    if (smallest < options_.mine.hash) return refused;
    return WaitFor(Wait::kEqual, kEqualLimit, refused);
  }
  if (older != nullptr) {
    const milliseconds limit = options_.session_timeout + kBeyondSession;
    return WaitFor(Wait::kOlder, limit,
                   Refuse(*older, "is older and must leave first",
                          "stop it, or start this one under another id (-G)"));
  }
  if (!joined) {
    return WaitFor(Wait::kOurselves, kDescribeLimit,
                   Status::Cluster(fmt::format("group {} does not list this member after {} s",
                                               options_.app, Seconds(kDescribeLimit))));
  }
  return Verdict::kGo;
}

Result<GroupCheck::Verdict> GroupCheck::WaitFor(Wait what, milliseconds limit,
                                                const Status& otherwise) {
  const Clock::Instant now = clock_->Steady();
  if (waiting_ != what) {
    waiting_ = what;
    since_ = now;
    if (what != Wait::kOurselves) {
      Log(LogLevel::kInfo, fmt::format("waiting {} s at most before the first record: {}",
                                       Seconds(limit), otherwise.message()));
    }
  }
  if (now - since_ >= limit) return otherwise;
  return Verdict::kWait;
}

Status GroupCheck::Refuse(const transport::GroupMember& member, std::string_view clash,
                          std::string_view advice) const {
  const MemberTag& mine = options_.mine;
  const MemberTag theirs = MemberTag::Parse(member.client_id).value_or(MemberTag());
  return Status::Refused(fmt::format(
      "application {}: a member on {} {}: its topology is {}, version {}, ours is {}, version {}: "
      "{}",
      options_.app, member.host, clash, theirs.hash, theirs.version, mine.hash, mine.version,
      advice));
}

Status GroupCheck::RefuseOther(const transport::GroupMember& member) const {
  return Refuse(
      member, "runs another topology",
      fmt::format("start this one under another id (-G), or stop the other; one that was killed "
                  "leaves after session.timeout.ms ({} s)",
                  Seconds(options_.session_timeout)));
}

Status GroupCheck::RefuseStale(const MemberTag& shown) const {
  return Status::Refused(fmt::format(
      "application {}: its group still knows instance {} by what it ran before: that topology is "
      "{}, "
      "version {}, ours is {}, version {}: start this one again when session.timeout.ms ({} s) is "
      "over, or with another --instance-id",
      options_.app, options_.instance_id, shown.hash, shown.version, options_.mine.hash,
      options_.mine.version, Seconds(options_.session_timeout)));
}

Status GroupCheck::RefuseStranger(const transport::GroupMember& member) const {
  return Status::Refused(fmt::format(
      "application {}: a member of its group on {} is no kstream (client.id \"{}\"): start this "
      "one under another id (-G), or stop the other; one that was killed leaves after its "
      "session.timeout.ms",
      options_.app, member.host, member.client_id));
}

}  // namespace kstream::runtime
