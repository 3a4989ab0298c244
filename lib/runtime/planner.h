// Planner: makes the plan of a run, keeps its manifest, and looks again when topics may have grown.
//
// An application with several inputs, a pattern, a grouper of its own, a store or an internal topic
// has a manifest, and takes leads and layout from it; only the member that owns its first task
// makes changes to it, after which the others find them there. An application with one plain input
// needs none: partition i of its topic is task i, for everyone and for ever. Tested by
// tests/unit/runtime/planner_test.cc.
#ifndef KSTREAM_RUNTIME_PLANNER_H_
#define KSTREAM_RUNTIME_PLANNER_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/admins.h"
#include "runtime/layout.h"
#include "runtime/manifest.h"
#include "runtime/plan.h"
#include "runtime/run_state.h"
#include "transport/types.h"

namespace kstream::runtime {

// Thread-safe after Open.
class Planner {
 public:
  Planner(const RunState* state, Admins* admins);

  // Finds topics, manifest and layout; makes the internal topics. kCluster, kUsage, kRefused,
  // kState.
  Status Open();

  // Never null after Open.
  std::shared_ptr<const RunPlan> plan() const;

  // Looks again; true: the plan is another one now, false: it is the same object. `owns_first`:
  // this member runs task 0 of the first stage. kFenced when the application was reset meanwhile.
  Result<bool> Refresh(bool owns_first);

  // Whether a stage of this topology writes the topic.
  bool IsOutput(const InputPartition& input) const;

 private:
  // What a stage is held to: what the manifest, or the plan before, says of it.
  struct Recorded {
    Lead lead;
    RecordedLayout layout;
  };
  using Plans = std::vector<StagePlan>;

  // The topics that a manifest would list and its own, as far as they are there.
  Result<std::map<std::string, int32_t>> InternalTopicsThere() const;
  bool IsInternal(const InputPartition& input) const;
  std::optional<Recorded> RecordedOf(size_t stage) const;

  Result<std::vector<InputTopic>> TopicsOf(const TopologyStage& stage, const Plans& plans);
  Result<std::vector<InputTopic>> TopicsOfInput(const Location& input, const Plans& plans);
  void Align(std::vector<InputTopic>* topics) const;
  int32_t RepartitionCount(const Location& topic, const Plans& plans) const;
  // `grow`: what is new gets its place too; else only what is recorded, where there is such.
  Result<StagePlan> PlanStage(size_t stage, const Plans& plans, bool grow);
  Result<Plans> PlanAll(bool grow);

  // Whether a manifest says how tasks are laid out: one that a reset left does not.
  bool decided() const { return manifest_ && !manifest_->stages.empty(); }
  Status CheckStages() const;
  Manifest Propose(const Plans& plans) const;
  Status KeepManifest(Plans* plans, bool owner);
  Status Write(const Manifest& wanted);
  Status TakeManifest(Plans* plans) const;
  Status MakeInternalTopics();
  // Adds the topic at home, if it is there.
  Status Find(const std::string& topic, std::map<std::string, int32_t>* existing) const;
  Status MakeInternalTopic(const InternalTopic& topic, std::map<std::string, int32_t>* existing);
  Status CheckChangelogs() const;

  // planner_stores.cc
  Status CheckNewStores(const Plans& plans);
  std::set<size_t> Upstream(size_t stage) const;
  Result<std::optional<transport::PartitionOffset>> ReadBefore(const std::set<size_t>& stages,
                                                               const Plans& plans) const;
  // Those that this topology uses; what older versions of it used is left alone.
  std::vector<InternalTopic> InternalTopicsInUse() const;
  Status RecordMade(const std::vector<InternalTopic>& topics);
  // Whether it differs from the one before, which stays otherwise.
  Result<bool> Publish(Plans plans);
  Status FindEnds(RunPlan* plan);

  const RunState* const state_;
  Admins* const admins_;
  GrouperChoice grouper_;             // of the application; a stage's own is OfStage
  std::unique_ptr<ManifestLog> log_;  // null: no manifest is needed

  std::mutex mutex_;                         // guards all below; held while clusters are asked
  std::map<std::string, int32_t> existing_;  // of our internal topics, before the manifest was read
  std::optional<Manifest> manifest_;
  mutable std::mutex plan_mutex_;  // held for a moment, to change or to read plan_ from outside
  std::shared_ptr<const RunPlan> plan_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_PLANNER_H_
