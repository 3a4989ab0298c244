// Processors that a test writes as functions.
#ifndef KSTREAM_TESTS_UNIT_RUNTIME_PROCESSORS_H_
#define KSTREAM_TESTS_UNIT_RUNTIME_PROCESSORS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kstream/processor.h"
#include "kstream/status.h"
#include "kstream/store.h"
#include "kstream/topology.h"

namespace kstream {

// What a status says: nothing when it is ok.
inline std::string Said(const Status& status) { return std::string(status.message()); }

using ProcessFunction = std::function<Status(ProcessorContext&, const Record&)>;

class FunctionProcessor final : public Processor {
 public:
  using InitFunction = std::function<void(ProcessorContext&)>;
  using PunctuateFunction = std::function<Status(ProcessorContext&, const Punctuation&)>;

  FunctionProcessor(ProcessFunction process, InitFunction init, PunctuateFunction punctuate)
      : process_(std::move(process)), init_(std::move(init)), punctuate_(std::move(punctuate)) {}
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    if (init_) init_(context);
    return Status::Ok();
  }
  Status Process(const Record& record) override { return process_(*context_, record); }
  Status Punctuate(const Punctuation& punctuation) override {
    return punctuate_ ? punctuate_(*context_, punctuation) : Status::Ok();
  }

 private:
  const ProcessFunction process_;
  const InitFunction init_;
  const PunctuateFunction punctuate_;
  ProcessorContext* context_ = nullptr;
};

inline ProcessorSupplier Does(ProcessFunction process,
                              FunctionProcessor::InitFunction init = nullptr,
                              FunctionProcessor::PunctuateFunction punctuate = nullptr) {
  return {[=] { return std::make_unique<FunctionProcessor>(process, init, punctuate); }, "test"};
}

// Hands every record on.
inline ProcessorSupplier Passes() {
  return Does(
      [](ProcessorContext& context, const Record& record) { return context.Forward(record); });
}

// Counts by key in the store "counts", and hands on each count.
inline ProcessorSupplier CountsByKey() {
  return Does([](ProcessorContext& context, const Record& record) {
    KSTREAM_ASSIGN_OR_RETURN(StateStore* const found, context.Store("counts"));
    auto* const counts = dynamic_cast<KeyValueStore*>(found);
    KSTREAM_ASSIGN_OR_RETURN(const auto before, counts->Get(*record.key));
    const std::string now = std::to_string(before ? std::stol(*before) + 1 : 1);
    KSTREAM_RETURN_IF_ERROR(counts->Put(*record.key, now));
    Record made = record;
    made.value = now;
    made.cache = nullptr;
    return context.Forward(made);
  });
}

// Gives each record its value as its key.
inline ProcessorSupplier KeysByValue() {
  return Does([](ProcessorContext& context, const Record& record) {
    Record keyed = record;
    keyed.key = record.value;
    return context.Forward(keyed);
  });
}

// Two stages: what comes from `inputs` goes by key through the repartition topic "by-key".
inline TopologyBuilder TwoStages(std::vector<Location> inputs, Location output,
                                 ProcessorSupplier first = KeysByValue(),
                                 ProcessorSupplier second = Passes()) {
  SourceSpec in;
  in.inputs = std::move(inputs);
  SourceSpec between;
  between.inputs = {Location::Repartition("by-key")};
  SinkSpec by_key;
  by_key.output = Location::Repartition("by-key");
  SinkSpec out;
  out.output = std::move(output);
  TopologyBuilder builder;
  builder.AddSource("in", in)
      .AddProcessor("first", std::move(first), {"in"})
      .AddSink("by-key", by_key, {"first"})
      .AddSource("between", between)
      .AddProcessor("second", std::move(second), {"between"})
      .AddSink("out", out, {"second"});
  return builder;
}

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_RUNTIME_PROCESSORS_H_
