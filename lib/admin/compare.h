// The sides of a comparison: what CompareStates (kstream/inspect.h) is made of. Tested by
// tests/unit/admin/compare_test.cc.
#ifndef KSTREAM_ADMIN_COMPARE_H_
#define KSTREAM_ADMIN_COMPARE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "admin/store_view.h"
#include "base/clock.h"
#include "kstream/inspect.h"
#include "transport/cluster.h"

namespace kstream::admin {

class Side {
 public:
  virtual ~Side() = default;
  // Stores and tasks.
  virtual std::set<std::pair<std::string, int32_t>> Places() const = 0;
  // At most once each; the view goes before the side does.
  virtual Result<std::unique_ptr<StoreView>> Open(const std::pair<std::string, int32_t>& place) = 0;
};

// What the query asks for of it. `home` null: no brokers; `clock` outlives the side.
Result<std::unique_ptr<Side>> OpenSide(const StateSource& source,
                                       std::unique_ptr<transport::Cluster> home, const Clock* clock,
                                       const RowQuery& query);
Result<uint64_t> CompareSides(Side* left, Side* right, const RowQuery& query,
                              const Inspector::DifferenceVisitor& visit);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_COMPARE_H_
