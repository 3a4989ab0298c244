// word_count: how often each word occurs, told every ten seconds of the messages' own time.
//
//   word_count messages.ndjson -           files: {"ts": ms since the epoch, "text": "..."} a line
//   word_count messages counts k:9092      topics
//
// An operator makes words of messages, a topic between two stages brings equal ones together, and a
// processor of our own counts them. Its store is in memory; so each run begins with nothing, and as
// it is no application that commits, it reads everything.
#include <kstream/operators.h>
#include <kstream/runtime.h>
#include <kstream/topology.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace kstream;  // NOLINT(google-build-using-namespace)

class Counter : public Processor {
 public:
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    KSTREAM_ASSIGN_OR_RETURN(StateStore* const store, context.Store("counts"));
    counts_ = dynamic_cast<KeyValueStore*>(store);
    return context.Schedule(std::chrono::seconds(10), PunctuationType::kStreamTime).status();
  }

  Status Process(const Record& word) override {
    KSTREAM_ASSIGN_OR_RETURN(const std::optional<std::string> before, counts_->Get(*word.key));
    const long count = before ? std::stol(*before) + 1 : 1;
    return counts_->Put(*word.key, std::to_string(count));
  }

  Status Punctuate(const Punctuation&) override {
    Status forwarded;
    KSTREAM_RETURN_IF_ERROR(counts_->All([&](std::string_view word, std::string_view count) {
      Record record;
      record.key = word;
      record.value = count;
      forwarded = context_->Forward(record);
      return forwarded.ok();
    }));
    return forwarded;
  }

 private:
  ProcessorContext* context_ = nullptr;
  KeyValueStore* counts_ = nullptr;
};

Status CountWords(const std::string& from, const std::string& to, const std::string& brokers) {
  KSTREAM_ASSIGN_OR_RETURN(const Location input, Location::Parse(from, !brokers.empty()));
  KSTREAM_ASSIGN_OR_RETURN(const Location output, Location::Parse(to, !brokers.empty()));
  KSTREAM_ASSIGN_OR_RETURN(const Expression time, Expression::Compile(".ts"));
  KSTREAM_ASSIGN_OR_RETURN(
      const Expression words,
      Expression::Compile(R"(.text | ascii_downcase | split(" ")[] | select(. != ""))"));
  KSTREAM_ASSIGN_OR_RETURN(const Expression word,
                           Expression::Compile("$out", Language::kAuto, {"out"}));
  KSTREAM_ASSIGN_OR_RETURN(const ProcessorSupplier split, Map({.value = words, .key = word}));

  TopologyBuilder builder;
  builder.AddSource("messages", {.inputs = {input}, .timestamp_expression = time})
      .AddProcessor("split", split, {"messages"})
      .AddSink("words-out", {.output = Location::Repartition("words")}, {"split"})
      .AddSource("words", {.inputs = {Location::Repartition("words")}})
      .AddProcessor("count", [] { return std::make_unique<Counter>(); }, {"words"})
      .AddStore("counts", InMemoryKeyValueStore(), {"count"})
      .AddSink("out", {.output = output, .format = "format", .format_text = "%k %s\\n"}, {"count"});
  KSTREAM_ASSIGN_OR_RETURN(const Topology topology, builder.Build());

  RuntimeOptions options;
  options.home.brokers = brokers;
  KSTREAM_ASSIGN_OR_RETURN(const auto runtime, Runtime::Create(topology, options));
  return runtime->Run();
}

}  // namespace

int main(int argc, char** argv) {
  const Status status =
      CountWords(argc > 1 ? argv[1] : "-", argc > 2 ? argv[2] : "-", argc > 3 ? argv[3] : "");
  if (!status.ok()) std::fprintf(stderr, "word_count: %s\n", std::string(status.message()).c_str());
  return static_cast<int>(status.code());
}
