#include "dsl/skips.h"

#include <fmt/format.h>

#include "kstream/log.h"

namespace kstream::dsl {
namespace {

void TellRepeats(std::string_view node, SkipTotals* totals) {
  const int64_t repeats = totals->repeats.exchange(0), keyless = totals->keyless.exchange(0);
  if (repeats > 0) Log(LogLevel::kInfo, fmt::format("{}: left out {} that repeat", node, repeats));
  if (keyless > 0) {
    Log(LogLevel::kInfo, fmt::format("{}: kept {} without a key to be unique by", node, keyless));
  }
  if (const int64_t unsure = totals->unsure.exchange(0); unsure > 0) {
    Log(LogLevel::kWarning,
        fmt::format("{}: kept {} that came late: what they repeat may have been forgotten: a "
                    "longer --grace remembers it",
                    node, unsure));
  }
}

}  // namespace

void Skips::Tell(std::string_view node) {
  if (!totals_) return;
  const std::shared_ptr<SkipTotals> totals = std::exchange(totals_, nullptr);
  totals->no_key += no_key_;
  totals->no_value += no_value_;
  totals->late += late_;
  totals->expired += expired_;
  totals->open += open_;
  totals->repeats += repeats_;
  totals->keyless += keyless_;
  totals->unsure += unsure_;
  if (--totals->tasks > 0) return;
  const int64_t no_key = totals->no_key.exchange(0), no_value = totals->no_value.exchange(0);
  if (no_key + no_value > 0) {
    Log(LogLevel::kInfo, fmt::format("{}: left out {} without a key and {} without a value", node,
                                     no_key, no_value));
  }
  if (const int64_t late = totals->late.exchange(0); late > 0) {
    Log(LogLevel::kWarning,
        fmt::format("{}: {} came late, when their windows had closed: a longer grace takes them",
                    node, late));
  }
  if (const int64_t expired = totals->expired.exchange(0); expired > 0) {
    Log(LogLevel::kWarning,
        fmt::format("{}: {} came late, when their rows had expired or would have: a longer --ttl "
                    "takes them",
                    node, expired));
  }
  TellRepeats(node, totals.get());
  if (const int64_t open = totals->open.exchange(0); open == 1) {
    Log(LogLevel::kInfo, fmt::format("{}: 1 window stays open: --close-at-end closes it", node));
  } else if (open > 1) {
    Log(LogLevel::kInfo,
        fmt::format("{}: {} windows stay open: --close-at-end closes them", node, open));
  }
}

}  // namespace kstream::dsl
