// Instances: which instances of stores an application has, and a view of each: what a directory
// holds, what the changelog holds, or the one with the tail of the other laid over it.
//
// With a cluster every task is known, also those that this host has nothing of: they are read from
// their changelogs. A directory counts only if a restore would go on from it, by the same rule
// (changelogs.h): a store of another incarnation, or of a log that is gone, is read from its
// changelog instead, and the log says why. Tested by tests/unit/admin/app_inspector_test.cc.
#ifndef KSTREAM_ADMIN_INSTANCES_H_
#define KSTREAM_ADMIN_INSTANCES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/store_view.h"
#include "base/clock.h"
#include "kstream/inspect.h"
#include "runtime/manifest.h"
#include "runtime/state_directory.h"
#include "transport/cluster.h"

namespace kstream::admin {

// An instance of a store: in a directory, or in the changelog alone.
struct Instance {
  std::string store;
  int32_t task = 0;
  std::string path = {};  // empty: in the changelog alone
};
// "agg[0]".
std::string Named(const Instance& instance);

// Belongs to one thread.
class Instances {
 public:
  // `home` null: the directory alone. `home` and `clock` outlive it.
  Instances(InspectOptions options, transport::Cluster* home, const Clock* clock);
  ~Instances();

  const InspectOptions& options() const { return options_; }
  transport::Cluster* home() const { return home_; }
  const Clock& clock() const { return *clock_; }

  // By store and task. kState: there is no such application here. kCluster: nor there.
  Result<std::vector<Instance>> All();
  // Those of the one store that the query asks for. kUsage: there are several, and it names none;
  // kState: there is none, or no such task.
  Result<std::vector<Instance>> Asked(const RowQuery& query);
  // How many tasks the store has; nullopt: this directory may have but a part of them.
  Result<std::optional<int32_t>> TasksOf(std::string_view store);

  // All rows that the query asks for, and perhaps more.
  Result<std::unique_ptr<StoreView>> Open(const Instance& instance, const RowQuery& query);
  // Room for a view, in a directory that goes with this object.
  Result<std::string> Room();

  // Once All or Asked was called with a cluster.
  const runtime::Manifest& manifest() const { return *manifest_; }
  // The partition that journals an instance; nullopt: none does, or there is no cluster.
  std::optional<transport::TopicPartition> ChangelogOf(const Instance& instance) const;
  Result<transport::Admin::Watermarks> EndsOf(const transport::TopicPartition& changelog);

 private:
  Status ReadManifest();
  Status CheckStore(const RowQuery& query, const std::vector<Instance>& all) const;
  Status LayTail(const Instance& instance, const transport::TopicPartition& changelog,
                 const RowQuery& query, StoreView* view);
  Status ReadTail(const transport::TopicPartition& changelog, int64_t from, int64_t end,
                  const store::Checkpoint* at, const RowQuery& query, StoreView* view, bool* same);

  const InspectOptions options_;
  transport::Cluster* const home_;
  const Clock* const clock_;
  std::optional<runtime::Manifest> manifest_;
  std::unique_ptr<runtime::StateDirectory> room_;
  int32_t rooms_ = 0;
};

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_INSTANCES_H_
