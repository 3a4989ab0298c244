// The tables of KafkaStreamsOracle.java that kstream-agg has no flags for, in the library's DSL:
// functions of C++, tables, streams with another key. One application of several stages, over
// public headers alone.
//
//   peer_stages PREFIX APP STATE_DIR GUARANTEE
//
// reads PREFIX-words and PREFIX-rows of the cluster $KSTREAM_BROKERS to their ends and writes
// PREFIX-GUARANTEE-CASE.
#include <kstream/runtime.h>
#include <kstream/stream.h>
#include <kstream/table.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace kstream;  // NOLINT(google-build-using-namespace)

constexpr size_t kLongest = 40;

std::string Tail(std::string text) {
  return text.size() <= kLongest ? text : text.substr(text.size() - kLongest);
}

std::optional<std::string> FirstOf(const Record& record) {
  if (!record.value || record.value->empty()) return std::nullopt;
  return std::string(record.value->substr(0, 1));
}

MadeBytes AddWord(std::string_view sentence, const Record& word) {
  if (*word.value == "!") return std::nullopt;
  return Tail(std::string(sentence) + " " + std::string(*word.value));
}

MadeBytes AddLetters(const Record& word, std::string_view letters) {
  if (*word.value == "!") return std::nullopt;
  size_t number = 0;
  std::from_chars(letters.data(), letters.data() + letters.size(), number);
  return std::to_string(number + word.value->size());
}

MadeBytes LargerOf(std::string_view largest, const Record& word) {
  return std::string(*word.value > largest ? *word.value : largest);
}

Result<Topology> Tables(const std::string& prefix, const std::string& guarantee) {
  const auto topic = [&](const std::string& name) { return Location::Topic(prefix + "-" + name); };
  const auto made = [&](const std::string& name) { return topic(guarantee + "-" + name); };
  StreamBuilder builder({.key = "string", .value = "string"});
  const Stream words = builder.Source(topic("words"), "words");
  words.GroupByKey().Reduce(AddWord, "sentence").ToStream().To(made("sentence"));
  words.GroupByKey()
      .Aggregate([] { return std::string("0"); }, AddLetters, "letters")
      .ToStream()
      .To(made("letters"));
  words.SelectKey([](const Record& word) -> MadeBytes { return FirstOf(word); })
      .GroupByKey("by-initial")
      .Reduce(LargerOf, "largest")
      .ToStream()
      .To(made("largest"));
  const Table latest = builder.Table(topic("rows"), "latest");
  latest.ToStream().To(made("latest"));
  latest.ToStream()
      .GroupBy([](const Record& row) -> MadeBytes { return FirstOf(row); }, "by-letter")
      .Count("changes")
      .ToStream()
      .To(made("changes"));
  return builder.Build();
}

Status Run(const std::string& prefix, RuntimeOptions options, const std::string& guarantee) {
  KSTREAM_RETURN_IF_ERROR(options.Set("guarantee", guarantee));
  KSTREAM_RETURN_IF_ERROR(options.Set("commit-interval", "100ms"));
  KSTREAM_ASSIGN_OR_RETURN(const Topology topology, Tables(prefix, guarantee));
  KSTREAM_ASSIGN_OR_RETURN(const auto runtime, Runtime::Create(topology, std::move(options)));
  return runtime->Run();
}

}  // namespace

int main(int argc, char** argv) {
  const char* const brokers = std::getenv("KSTREAM_BROKERS");
  if (argc != 5 || !brokers) {
    std::fprintf(stderr, "usage: KSTREAM_BROKERS=.. peer_stages PREFIX APP STATE_DIR GUARANTEE\n");
    return 2;
  }
  RuntimeOptions options;
  options.home.brokers = brokers;
  options.app = argv[2];
  options.state_dir = argv[3];
  options.exit_at_end = true;
  options.threads = 2;
  const Status status = Run(argv[1], std::move(options), argv[4]);
  if (!status.ok())
    std::fprintf(stderr, "peer_stages: %s\n", std::string(status.message()).c_str());
  return static_cast<int>(status.code());
}
