// AppReset: what kstream/reset.h promises, over any cluster. Tested by
// tests/unit/admin/reset_test.cc and, on a broker, tests/broker/inspect.bats.
#ifndef KSTREAM_ADMIN_APP_RESET_H_
#define KSTREAM_ADMIN_APP_RESET_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "admin/reset_target.h"
#include "base/clock.h"
#include "kstream/reset.h"
#include "runtime/manifest.h"
#include "runtime/state_directory.h"
#include "transport/cluster.h"

namespace kstream::admin {

class AppReset final : public Reset {
 public:
  // `clock` outlives it.
  AppReset(ResetOptions options, std::unique_ptr<transport::Cluster> home, const Clock* clock);
  ~AppReset() override;

  Result<std::vector<ResetStep>> Plan() override;
  Status Execute(const std::function<Status(const ResetStep&)>& done) override;

 private:
  // What is there, as far as it is this application's.
  struct Facts {
    std::optional<runtime::Manifest> manifest;
    // Of the group.
    std::map<transport::TopicPartition, int64_t> committed;
    bool group = false;
    std::vector<runtime::InternalTopic> topics;  // that exist, and are ours or adopted
    std::set<std::string> internal;              // names of all that are ours, gone or not
    Committed inputs;                            // of topics that exist
    std::vector<runtime::StoreDirectory> stores;
  };

  Result<Facts> Look();
  Status LookAtGroup(Facts* facts);
  Status LookAtTopics(Facts* facts);
  Status LookAtInputs(Facts* facts);
  Status LookAtDirectory(Facts* facts);
  Status Adopt(const std::string& topic, Facts* facts);
  Status CheckUnlisted(const Facts& facts);
  // What the steps change together is asked for by one request.
  Status SetOffsets(const std::vector<ResetStep>& plan,
                    const std::function<Status(const ResetStep&)>& done);
  Status Do(const ResetStep& step);
  Status DeleteTopic(const std::string& topic);
  Status NewIncarnation();

  const ResetOptions options_;
  const std::unique_ptr<transport::Cluster> home_;
  const Clock* const clock_;
  std::unique_ptr<transport::Admin> admin_;
  std::unique_ptr<runtime::StateDirectory> directory_;  // locked while steps are done
};

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_APP_RESET_H_
