// AppLoad: what kstream/load.h promises, over any cluster.
//
// On a cluster one transaction holds all rows. That nobody runs is asked before it begins, and
// again when all is acknowledged and nothing is committed yet: a member that came in between has
// read, or waits for, the end of the changelog either before these rows (then it is seen, and
// nothing is committed) or behind them (then it reads them once they are committed). One that came
// and went has moved the commits of the group. Tested by tests/unit/admin/load_test.cc and, on a
// broker, tests/broker/inspect_rows.bats.
#ifndef KSTREAM_ADMIN_APP_LOAD_H_
#define KSTREAM_ADMIN_APP_LOAD_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/instances.h"
#include "admin/load_input.h"
#include "base/clock.h"
#include "kstream/load.h"
#include "runtime/state_directory.h"
#include "transport/cluster.h"

namespace kstream::admin {

class AppLoad final : public Load {
 public:
  // `home` null: the store is one of a run on files. `clock` outlives it.
  AppLoad(LoadOptions options, std::unique_ptr<transport::Cluster> home, const Clock* clock);
  ~AppLoad() override;

  Result<std::vector<LoadStep>> Plan() override;
  Result<std::vector<LoadStep>> Execute() override;

 private:
  using Committed = std::map<transport::TopicPartition, int64_t>;

  Status Prepare();
  // kRefused: somebody is in the group.
  Result<Committed> CheckStopped();
  // kState: a directory here has seen more than the changelog has.
  Status CheckDirectory();
  Result<std::vector<Instance>> Targets();
  Result<std::vector<Instance>> FileTargets();
  Result<std::unique_ptr<StoreView>> Current(const Instance& target);
  Result<LoadStep> Apply(const Instance& target, const LoadInput::Sink& write);
  Status LockDirectory();

  Result<std::vector<LoadStep>> ExecuteOnCluster(const std::vector<Instance>& targets);
  Status Commit(transport::Producer* producer, const Committed& before);
  Result<std::vector<LoadStep>> ExecuteOnFiles(const std::vector<Instance>& targets);

  const LoadOptions options_;
  const std::unique_ptr<transport::Cluster> home_;
  const Clock* const clock_;
  Instances instances_;
  LoadInput input_;
  bool is_read_ = false;
  std::unique_ptr<runtime::StateDirectory> directory_;  // locked while rows are written
};

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_APP_LOAD_H_
