#include "runtime/kafka_run.h"

#include <mutex>
#include <thread>
#include <vector>

#include "runtime/stage_thread.h"

namespace kstream::runtime {

Status RunOnKafka(RunState* state, OutputFiles* files) {
  KafkaShared shared{.state = state, .files = files, .plan = {}, .admin_mutex = {}, .admins = {}};
  for (const Location& input : state->source().inputs) {
    auto& admin = shared.admins[input.cluster];
    if (!admin) {
      KSTREAM_ASSIGN_OR_RETURN(admin, state->clusters.at(input.cluster)->NewAdmin());
    }
  }
  KSTREAM_ASSIGN_OR_RETURN(shared.plan, PartitionPlan::Make(*state, shared.admins));
  KSTREAM_RETURN_IF_ERROR(OpenOutputs(*state, files));

  std::mutex mutex;
  Status first;
  const auto work = [&](int index) {
    const Status status = StageThread(&shared, index).Run();
    if (status.ok()) return;
    const std::lock_guard lock(mutex);
    if (first.ok()) first = status;
    state->stop = true;
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < state->options.threads; i++) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  return first;
}

}  // namespace kstream::runtime
