// Configuration: whether the options and a topology go together, checked before anything is
// touched, and the clusters that they name. Tested by tests/system/usage.bats and
// tests/unit/runtime/configuration_test.cc.
#ifndef KSTREAM_RUNTIME_CONFIGURATION_H_
#define KSTREAM_RUNTIME_CONFIGURATION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "kstream/status.h"
#include "runtime/run_state.h"

namespace kstream::runtime {

// Checks everything that can be checked without a broker, fills in serdes, --from and limits.
// kUsage, kExpression, with one line.
Status CheckConfiguration(RunState* state);

// Whether a word is one of `choices`: kUsage with all of them, without the flag's name.
Status CheckChoice(std::string_view text, const std::vector<std::string_view>& choices);
// What --partitioner may be: as CheckChoice.
Status CheckPartitioner(std::string_view text);
// What --memory may be: kUsage, without the flag's name.
Status CheckMemory(int64_t bytes);

// Makes the clusters of all inputs and outputs; connects to none.
Status MakeClusters(RunState* state);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_CONFIGURATION_H_
