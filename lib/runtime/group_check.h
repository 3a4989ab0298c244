// GroupCheck: no record is processed before all members of the group are known to run the same
// topology. Two programs that share an application id would each get half of the data, silently.
//
// A member tells what it runs in its client.id, and each looks at all others once it has joined. It
// has joined before it looks, so of two that start at once at least one sees the other. An instance
// that has passed is *established* and never refuses a later comer; the later comer goes:
//
//   the others have          then
//   our hash                 go
//   no kstream client.id     refuse
//   a larger version         refuse: they take over
//   a smaller version        wait until they have left (they see us at the rebalance that our
//   joining
//                            makes), as long as a killed one stays in the group; then refuse
//   our version              the larger hash refuses at once; the smaller waits for the other to do
//                            so, for 10 s, then refuses: the other was established
//
// A static member (--instance-id) that comes back within its session takes its old place, and
// brokers go on showing the client.id that it had there: what is shown under our own instance id is
// ours. When that tells of another topology nobody could see what we run, so we refuse until it is
// forgotten.
//
// A member that was killed stays in the group until its session times out, and looks alive; the
// message says so. One that stops in order leaves at once, so stop, change and start just works.
// Time is the clock's. Tested by tests/unit/runtime/group_check_test.cc.
#ifndef KSTREAM_RUNTIME_GROUP_CHECK_H_
#define KSTREAM_RUNTIME_GROUP_CHECK_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kstream/status.h"
#include "transport/admin.h"
#include "transport/timeouts.h"

namespace kstream::runtime {

// What a member says of itself in its client.id:
// "kstream=<hash>;version=<n>;instance=<8 hexadecimal digits>;thread=<i>", after the user's own and
// a semicolon.
struct MemberTag {
  std::string hash;      // Topology::Hash
  int64_t version = 0;   // RuntimeOptions::version
  std::string instance;  // NewInstance(), one a process
  int32_t thread = 0;
  bool operator==(const MemberTag&) const = default;

  // For ConsumerOptions::client_id.
  std::string ToClientId() const;
  // nullopt: not the client.id of a member of ours.
  static std::optional<MemberTag> Parse(std::string_view client_id);
};

// 32 random bits as 8 hexadecimal digits.
std::string NewInstance();

// Thread-safe; one a process.
class GroupCheck {
 public:
  struct Options {
    std::string app;
    MemberTag mine;                // its thread says nothing
    std::string instance_id = {};  // RuntimeOptions::instance_id
    std::chrono::milliseconds session_timeout =
        transport::kSessionTimeout;  // session.timeout.ms of the consumers
  };
  enum class Verdict : uint8_t { kGo, kWait };

  // `clock` outlives it.
  GroupCheck(Options options, std::unique_ptr<transport::Admin> admin, const Clock* clock);

  // Before anything is written or joined: kRefused when the group has members that this instance
  // could not live with. What cannot be found out is ok.
  Status Precheck();

  // After a thread has joined, before its first record: describes the group once and says go, or to
  // ask again in about 200 ms. kRefused (what clashes, and what to do), and kCluster when the group
  // cannot be described for long. Once it says go, or fails, it says so for good and asks nobody.
  // Not being allowed to describe the group draws one warning and is a go.
  Result<Verdict> Check();

  // At each later rebalance: kRefused when a larger version has come, for which this one leaves. A
  // member that is no kstream draws one warning: what it takes does not come here.
  // What cannot be found out is ok.
  Status Recheck();

 private:
  // What is being waited for; each wait has its own time.
  enum class Wait : uint8_t { kNone, kDescription, kOurselves, kOlder, kEqual };

  Result<Verdict> Judge();
  // kWait until `limit` is over since it was first called for `what` in turn.
  Result<Verdict> WaitFor(Wait what, std::chrono::milliseconds limit, const Status& otherwise);
  bool IsOurs(const transport::GroupMember& member) const;
  Status LeaveForNewer(const transport::GroupDescription& group) const;
  Status Refuse(const transport::GroupMember& member, std::string_view clash,
                std::string_view advice) const;
  Status RefuseOther(const transport::GroupMember& member) const;
  Status RefuseStale(const MemberTag& shown) const;
  Status RefuseStranger(const transport::GroupMember& member) const;

  const Options options_;
  const Clock* const clock_;

  std::mutex mutex_;  // guards all below; held while the group is described
  const std::unique_ptr<transport::Admin> admin_;
  bool passed_ = false;
  std::set<std::string> warned_;  // ids of members
  Status failed_;
  Wait waiting_ = Wait::kNone;
  Clock::Instant since_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_GROUP_CHECK_H_
