// KafkaRun: a stage whose inputs are topics: prepares topics and plan, then runs its threads.
#ifndef KSTREAM_RUNTIME_KAFKA_RUN_H_
#define KSTREAM_RUNTIME_KAFKA_RUN_H_

#include "kstream/status.h"
#include "runtime/outputs.h"
#include "runtime/run_state.h"

namespace kstream::runtime {

// Runs until the end, a stop or a failure; by then everything done is flushed and committed.
Status RunOnKafka(RunState* state, OutputFiles* files);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_KAFKA_RUN_H_
