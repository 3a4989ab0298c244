// The log inside the library; kstream/log.h has the rest. spdlog does the writing; it does not show
// here. Tested by tests/unit/base/log_test.cc.
#ifndef KSTREAM_BASE_LOG_H_
#define KSTREAM_BASE_LOG_H_

#include "kstream/log.h"

namespace kstream {

// Whether Log would write at this level: asked before a costly message is made.
bool LogEnabled(LogLevel level);

}  // namespace kstream

#endif  // KSTREAM_BASE_LOG_H_
