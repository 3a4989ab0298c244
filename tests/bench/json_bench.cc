// What it costs to validate a line and find one of its members. Lines of 128 bytes, as NDJSON in
// regions of 1 MB or each text alone.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "record/json_document.h"

namespace kstream::json {
namespace {

constexpr size_t kRegion = 1 << 20;

struct Lines {
  std::string text;
  std::vector<std::string_view> lines;
};

const Lines& Orders() {
  static const Lines orders = [] {
    Lines made;
    std::mt19937 random(1);
    std::vector<size_t> ends;
    while (made.text.size() < kRegion - 256) {
      made.text += fmt::format(
          R"({{"id":{},"user":"u{}","amount":{}.{:02},"status":"{}","country":"{}","ts":{},)"
          R"("items":[{{"sku":"a{}","qty":{}}}]}})",
          random() % 1'000'000, random() % 1000, random() % 1000, random() % 100,
          random() % 2 ? "paid" : "open", random() % 2 ? "DE" : "FR",
          1'700'000'000'000 + random() % 1'000'000, random() % 100, random() % 9 + 1);
      ends.push_back(made.text.size());
      made.text += '\n';
    }
    size_t begin = 0;
    for (size_t end : ends) {
      made.lines.push_back(std::string_view(made.text).substr(begin, end - begin));
      begin = end + 1;
    }
    return made;
  }();
  return orders;
}

void ParseAndFind(benchmark::State& state, bool prepare) {
  const Lines& orders = Orders();
  Reader reader;
  size_t found = 0;
  for (auto _ : state) {
    if (prepare) reader.Prepare(orders.text);
    for (std::string_view line : orders.lines) {
      Document document;
      if (!reader.Parse(line, &document).ok()) state.SkipWithError("not JSON");
      found += document.Find(document.root(), "amount");
    }
  }
  benchmark::DoNotOptimize(found);
  const auto lines = static_cast<int64_t>(state.iterations() * orders.lines.size());
  state.SetItemsProcessed(lines);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * orders.text.size()));
}

void PrepareOnly(benchmark::State& state) {
  const Lines& orders = Orders();
  Reader reader;
  for (auto _ : state) reader.Prepare(orders.text);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * orders.lines.size()));
}

BENCHMARK_CAPTURE(ParseAndFind, region, true);
BENCHMARK_CAPTURE(ParseAndFind, alone, false);
BENCHMARK(PrepareOnly);

}  // namespace
}  // namespace kstream::json
