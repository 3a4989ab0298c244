// Manifest: what an application has decided for good at its first start, kept with its group: the
// leads, the layout of tasks, the exact names of its internal topics and stores. Whoever finds a
// manifest takes them from it, because two members that decide by themselves could each own every
// task.
//
// It is a JSON object under the key "manifest" in the topic <app>.kstream: one partition, compacted
// so that neither age nor DeleteRecords takes anything from it, and with min.compaction.lag.ms so
// large that it is never compacted: the log is the history of the application. A record is written
// whole, a few times in a life. The form is in share/doc/kstream/manifest.md.
//
// *Which record stands.* The log is read from its beginning. The first record stands. A later one
// takes its place if it either
//   - has the same incarnation and a larger revision: a change (a layout that grew, another version
//     of the topology), or
//   - says that it replaces the incarnation that stands: a reset.
// Every other record is void: it lost a race. All readers see one order, so all agree, and whoever
// writes reads back what stands. Nobody waits for anybody: of processes that start at once the
// first to be written wins; one that dies before it writes leaves an empty topic, which is as good
// as none. Should a topic with another configuration be compacted all the same, its last record is
// left: the one that stands, or one that lost a race, whose other incarnation ends those that run
// (CheckIncarnation) and voids their stores; nothing is mixed.
//
// A member reads it at its start and again at each rebalance. Changes are written by the member
// that owns task 0 of the first stage. The manifest is acknowledged before a topic that it names is
// made. Tested by tests/unit/runtime/manifest_test.cc.
#ifndef KSTREAM_RUNTIME_MANIFEST_H_
#define KSTREAM_RUNTIME_MANIFEST_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kstream/grouper.h"
#include "kstream/status.h"
#include "transport/cluster.h"

namespace kstream::runtime {

// Names of internal topics.
std::string ManifestTopic(std::string_view app);  // <app>.kstream
std::string TasksTopic(std::string_view app);     // <app>.tasks
std::string ChangelogTopic(std::string_view app,
                           std::string_view store);  // <app>-<store>-changelog
std::string RepartitionTopic(std::string_view app,
                             std::string_view node);  // <app>-<node>-repartition

// Which partitions of the lead stand for the tasks of a stage. Several stages may share
// <app>.tasks, and one that grows has its new tasks behind those of the others.
struct Lead {
  struct Run {
    int32_t first = 0;  // partition of the lead
    int32_t count = 0;
    bool operator==(const Run&) const = default;
  };
  std::string topic;
  std::vector<Run> runs;  // in the order of the tasks

  int32_t tasks() const;
  int32_t PartitionOf(int32_t task) const;                      // of a task that there is
  std::optional<int32_t> TaskOf(int32_t lead_partition) const;  // nullopt: of another stage
  // Adds tasks whose partitions begin at `first`.
  void Grow(int32_t first, int32_t count);
  bool operator==(const Lead&) const = default;
};

struct ManifestStage {
  Lead lead;
  std::string grouper;             // GrouperChoice::ToString
  std::vector<InputTopic> topics;  // with their counts when the layout was made
  TaskLayout tasks;
  bool operator==(const ManifestStage&) const = default;
};

struct InternalTopic {
  enum class Kind : uint8_t { kTasks, kChangelog, kRepartition };
  std::string name;
  int32_t partitions = 0;
  Kind kind = Kind::kTasks;
  // Of a changelog: how many of its partitions are known to have been there. One that is not there
  // now has lost state; others are still to be made.
  int32_t made = 0;
  bool operator==(const InternalTopic&) const = default;
};

struct Manifest {
  std::string incarnation;  // 32 hexadecimal digits, random; stores carry it too
  int64_t revision = 0;     // one more with each change; ManifestLog counts
  std::string replaces;     // the incarnation that a reset ended with this one; else empty
  int64_t version = 0;      // of the topology: RuntimeOptions::version
  std::string hash;         // Topology::Hash
  // In the order of the topology. None: it was reset, and the next start decides as a first one.
  std::vector<ManifestStage> stages;
  // Of all versions so far: what a change no longer uses stays, so that a reset finds it.
  std::vector<InternalTopic> topics;
  std::vector<std::string> stores;
  bool operator==(const Manifest&) const = default;

  const InternalTopic* Find(std::string_view topic) const;  // null: not ours
};

// 128 random bits as 32 hexadecimal digits.
std::string NewIncarnation();

// One line of JSON.
std::string WriteManifest(const Manifest& manifest);
// Trusts nothing in `json`. kState: damaged (says where, and what to do), or of a newer kstream.
Result<Manifest> ParseManifest(std::string_view json);

// Internal topics begin with the application's name, so it must be one for a topic: kUsage, if it
// has other characters than a-z A-Z 0-9 . _ - or if `topic`, the internal one that is needed, is
// longer than 249. Only to be asked when an internal topic is needed.
Status CheckInternalName(std::string_view app, std::string_view topic);

// Before internal topics are made: none of those that `wanted` names may be there (`existing`: the
// counts of topics that exist) unless `recorded`, null at the first start, lists it: kRefused, it
// is another's. One that is ours must have the partitions that were recorded: kCluster, both
// counts.
Status CheckInternalTopics(std::string_view app, const Manifest* recorded,
                           const std::vector<InternalTopic>& wanted,
                           const std::map<std::string, int32_t>& existing);

// What a running member finds when it reads again: kFenced when the application was reset under it.
// `found` is nullopt when the manifest is gone.
Status CheckIncarnation(std::string_view app, const Manifest& mine,
                        const std::optional<Manifest>& found);

// The topic of the manifests of one application. Calls block, up to `limit` and the deadlines of
// the cluster. Belongs to one thread; makes its clients anew for each call, as calls are rare.
class ManifestLog {
 public:
  // `home` and `clock` outlive it.
  ManifestLog(transport::Cluster* home, std::string app, const Clock* clock,
              std::chrono::milliseconds limit = std::chrono::seconds(30));

  // The one that stands; nullopt: no topic, or nothing in it. kCluster; kState as ParseManifest.
  Result<std::optional<Manifest>> Read();

  // The first start: writes `proposal`, making the topic, unless one stands already. Returns the
  // one that stands: the proposal only if its incarnation says so. kRefused: the topic is there
  // already, and not as it must be.
  Result<Manifest> Establish(Manifest proposal);

  // A change: writes `next`, with the next revision and the incarnation of `base`, which `next` was
  // made from. Returns the one that stands: where another's change came first, that one.
  Result<Manifest> Change(const Manifest& base, Manifest next);

  // A reset: writes a new incarnation with nothing decided in the place of `base`. Returns the one
  // that stands; of two resets at once that of the first. What `base` names is gone by then.
  Result<Manifest> Replace(const Manifest& base);

 private:
  Result<Manifest> Write(const Manifest& manifest);

  transport::Cluster* const home_;
  const std::string app_, topic_;
  const Clock* const clock_;
  const std::chrono::milliseconds limit_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_MANIFEST_H_
