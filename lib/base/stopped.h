// Stopped: the failure of a call that gave up because its stage was asked to stop.
//
// A stop is a normal end, so what was not answered in time for it is no error: whoever runs the
// stage ends as if the answer had come and nothing had been left to do. The code is one that no
// public function returns. Tested by tests/unit/base/stopped_test.cc, and by what waits: the tests
// of the Kafka transport, of state directories and of the runtime.
#ifndef KSTREAM_BASE_STOPPED_H_
#define KSTREAM_BASE_STOPPED_H_

#include <string>
#include <utility>

#include "kstream/status.h"

namespace kstream {

inline constexpr StatusCode kStopped{-1};

// `message`: "stopped while ...", for the log.
inline Status Stopped(std::string message) { return {kStopped, std::move(message)}; }

inline bool IsStopped(const Status& status) { return status.code() == kStopped; }

}  // namespace kstream

#endif  // KSTREAM_BASE_STOPPED_H_
