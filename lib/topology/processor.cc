// What a processor does when it says nothing, and the handles of its schedules. Tested by
// tests/unit/topology/processor_test.cc.
#include "kstream/processor.h"

#include <fmt/format.h>

#include "topology/timer.h"

namespace kstream {

Timer::Timer(std::shared_ptr<State> state) : state_(std::move(state)) {}

Status Timer::Cancel() {
  if (!state_) return Status::Ok();
  if (state_->closed) {
    return Status::Usage(fmt::format(
        "node '{}' is closed, and its timers with it: cancel them before", state_->node));
  }
  state_->cancelled = true;
  return Status::Ok();
}

ProcessorContext::~ProcessorContext() = default;
Processor::~Processor() = default;
Status Processor::Init(ProcessorContext&) { return Status::Ok(); }
Status Processor::Punctuate(const Punctuation&) { return Status::Ok(); }
Status Processor::Flush() { return Status::Ok(); }
Status Processor::EndInput() { return Status::Ok(); }
void Processor::Close() {}

}  // namespace kstream
