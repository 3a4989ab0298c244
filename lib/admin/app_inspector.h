// AppInspector: what kstream/inspect.h promises, over any cluster. A query is answered instance by
// instance (instances.h): a view of each, then its rows. Tested by
// tests/unit/admin/app_inspector_test.cc.
#ifndef KSTREAM_ADMIN_APP_INSPECTOR_H_
#define KSTREAM_ADMIN_APP_INSPECTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/instances.h"
#include "admin/store_view.h"
#include "base/clock.h"
#include "kstream/inspect.h"
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

  Result<std::optional<int32_t>> Tasks(const RowQuery& query) override;
  Status History(const RowQuery& query, const VersionVisitor& visit) override;
  Result<std::vector<InstanceVerdict>> Verify(const RowQuery& query,
                                              const DifferenceVisitor& visit) override;

 private:
  Status ScanView(const Instance& instance, const RowQuery& query, StoreView* view,
                  const Visitor& visit);
  Result<StoreTotals> Sum(const Instance& instance, const RowQuery& query);
  // The query of each store that it may mean: all, where it names none.
  Result<std::vector<RowQuery>> EachStore(const RowQuery& query);

  const InspectOptions options_;
  const std::unique_ptr<transport::Cluster> home_;
  Instances instances_;
};

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_APP_INSPECTOR_H_
