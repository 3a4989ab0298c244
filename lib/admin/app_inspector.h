// AppInspector: what kstream/inspect.h promises, over any cluster.
//
// A query is answered instance by instance: which there are (directories, or partitions of the
// changelog), a view of each, then its rows. With a cluster a directory counts only if a restore
// would go on from it, by the same rule (changelogs.h): a store of another incarnation, or of a log
// that is gone, is read from its changelog instead, and the log says why. Tested by
// tests/unit/admin/app_inspector_test.cc.
#ifndef KSTREAM_ADMIN_APP_INSPECTOR_H_
#define KSTREAM_ADMIN_APP_INSPECTOR_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/store_view.h"
#include "base/clock.h"
#include "kstream/inspect.h"
#include "runtime/manifest.h"
#include "runtime/state_directory.h"
#include "transport/cluster.h"

namespace kstream::admin {

class AppInspector final : public Inspector {
 public:
  // `home` null: the directory alone. `clock` outlives it.
  AppInspector(InspectOptions options, std::unique_ptr<transport::Cluster> home,
               const Clock* clock);
  ~AppInspector() override;

  Result<std::vector<InspectedStore>> List() override;
  Result<std::optional<std::string>> Holder() override;
  Status Scan(const RowQuery& query, const Visitor& visit) override;
  Result<std::vector<StoreTotals>> Totals(const RowQuery& query) override;

 private:
  // An instance of a store: in a directory, or in the changelog alone.
  struct Instance {
    std::string store;
    int32_t task = 0;
    std::string path;  // empty: in the changelog alone
  };

  Result<std::vector<Instance>> All();
  // Those that the query asks for.
  Result<std::vector<Instance>> Asked(const RowQuery& query);
  Status CheckStore(const RowQuery& query, const std::vector<Instance>& all) const;
  // The view is of all rows that the query asks for, and perhaps more.
  Result<std::unique_ptr<StoreView>> Open(const Instance& instance, const RowQuery& query);
  Status ScanView(const Instance& instance, const RowQuery& query, StoreView* view,
                  const Visitor& visit);
  Status LayTail(const Instance& instance, const transport::TopicPartition& changelog,
                 const RowQuery& query, StoreView* view);
  Status ReadTail(const transport::TopicPartition& changelog, int64_t from, int64_t end,
                  const store::Checkpoint* at, const RowQuery& query, StoreView* view, bool* same);
  Status ReadManifest();
  // The partition that journals an instance; nullopt: none does.
  std::optional<transport::TopicPartition> ChangelogOf(const Instance& instance) const;
  Result<std::string> Room();

  const InspectOptions options_;
  const std::unique_ptr<transport::Cluster> home_;
  const Clock* const clock_;
  std::optional<runtime::Manifest> manifest_;      // once it was read; always with a cluster
  std::unique_ptr<runtime::StateDirectory> room_;  // for temporary stores
  int32_t rooms_ = 0;
};

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_APP_INSPECTOR_H_
