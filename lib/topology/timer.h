// What a Timer stands for: one schedule of one node. The task that made it counts with it, the
// processor holds it through its handles, and it may outlive both. Belongs to the task's thread.
#ifndef KSTREAM_TOPOLOGY_TIMER_H_
#define KSTREAM_TOPOLOGY_TIMER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "kstream/processor.h"

namespace kstream {

struct Timer::State {
  std::string node;  // whose schedule it is
  PunctuationType type = PunctuationType::kStreamTime;
  int64_t period = 0;           // ms, positive
  std::optional<int64_t> next;  // when it is due, ms since the epoch; nullopt: no time is known yet
  bool cancelled = false;       // by the processor: never fires again
  bool closed = false;          // its node was closed: never fires again, and Cancel is refused
};

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_TIMER_H_
