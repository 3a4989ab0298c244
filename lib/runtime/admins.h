// Admins: an admin client a cluster, shared by the threads of a run, one question at a time.
#ifndef KSTREAM_RUNTIME_ADMINS_H_
#define KSTREAM_RUNTIME_ADMINS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "kstream/status.h"
#include "runtime/run_state.h"
#include "transport/admin.h"

namespace kstream::runtime {

// Thread-safe.
class Admins {
 public:
  explicit Admins(const RunState* state) : state_(state) {}

  // `question(transport::Admin*)`, of a cluster that the run has; its answer, a Status or a Result.
  template <typename Question>
  auto Ask(const std::string& cluster, Question question)
      -> decltype(question(std::declval<transport::Admin*>())) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<transport::Admin>& admin = admins_[cluster];
    if (!admin) {
      KSTREAM_ASSIGN_OR_RETURN(admin, state_->clusters.at(cluster)->NewAdmin());
    }
    return question(admin.get());
  }

 private:
  const RunState* const state_;
  std::mutex mutex_;  // guards all below
  std::map<std::string, std::unique_ptr<transport::Admin>> admins_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_ADMINS_H_
