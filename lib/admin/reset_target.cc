#include "admin/reset_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "runtime/from_spec.h"

namespace kstream {
namespace {

bool ToNumber(std::string_view text, int64_t* number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// A time as --from takes it, and only one.
Result<int64_t> ToTime(std::string_view text) {
  const auto spec = runtime::FromSpec::Parse(fmt::format("@{}", text), SystemClock().WallMs());
  if (spec.ok() && !spec->until_time) return spec->number;
  return Status::Usage(fmt::format(
      "'{}' is no time: give ms since the epoch, RFC 3339 or a duration ago such as -1h", text));
}

}  // namespace

Result<ResetTarget> ResetTarget::Parse(std::string_view word, std::string_view value) {
  ResetTarget target;
  if (word == "to-earliest") return target;
  if (word == "to-latest") return ResetTarget{.kind = Kind::kLatest, .file = {}};
  if (word == "from-file") return ResetTarget{.kind = Kind::kFile, .file = std::string(value)};
  if (word == "to-datetime" || word == "by-duration") {
    const bool ago = word == "by-duration";
    const auto time = ToTime(ago ? fmt::format("-{}", value) : std::string(value));
    if (!time.ok() && ago) {
      return Status::Usage(fmt::format("'{}' is no duration: 500ms 10s 5m 2h 7d", value));
    }
    KSTREAM_RETURN_IF_ERROR(time.status());
    return ResetTarget{.kind = Kind::kTime, .number = *time, .file = {}};
  }
  target.kind = word == "to-offset" ? Kind::kOffset : Kind::kShift;
  if (word != "to-offset" && word != "shift-by") {
    return Status::Usage(fmt::format("'{}' is no target of a reset", word));
  }
  const bool good =
      ToNumber(value, &target.number) && (target.kind == Kind::kShift || target.number >= 0);
  if (good) return target;
  return Status::Usage(
      fmt::format("'{}' is no {}", value, target.kind == Kind::kShift ? "number" : "offset"));
}

namespace admin {
namespace {

using transport::TopicPartition;
using Offsets = std::map<TopicPartition, int64_t>;

std::string Named(const TopicPartition& name) {
  return fmt::format("{}[{}]", name.topic, name.partition);
}

// topic,partition,offset
bool ParseLine(std::string_view line, TopicPartition* name, int64_t* offset) {
  const size_t second = line.rfind(',');
  if (second == line.npos || second == 0) return false;
  const size_t first = line.rfind(',', second - 1);
  int64_t partition = 0;
  if (first == line.npos || first == 0 ||
      !ToNumber(line.substr(first + 1, second - first - 1), &partition) ||
      !ToNumber(line.substr(second + 1), offset)) {
    return false;
  }
  if (partition < 0 || partition > INT32_MAX || *offset < 0) return false;
  *name = {std::string(line.substr(0, first)), static_cast<int32_t>(partition)};
  return true;
}

Result<Offsets> ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::Usage(fmt::format("{}: cannot be read", path));
  Offsets offsets;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); number++) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    TopicPartition name;
    int64_t offset = 0;
    if (!ParseLine(line, &name, &offset)) {
      return Status::Usage(
          fmt::format("{}:{}: '{}' is not topic,partition,offset", path, number, Printable(line)));
    }
    if (!offsets.emplace(name, offset).second) {
      return Status::Usage(fmt::format("{}:{}: {} is there twice", path, number, Named(name)));
    }
  }
  if (file.bad()) return Status::Usage(fmt::format("{}: cannot be read to its end", path));
  return offsets;
}

Status CheckFile(const std::string& path, const Offsets& said, const Committed& inputs) {
  for (const auto& [name, committed] : inputs) {
    if (said.contains(name)) continue;
    return Status::Usage(
        fmt::format("{} says nothing of {}: every partition of the inputs needs "
                    "an offset, as nothing of before is remembered",
                    path, Named(name)));
  }
  for (const auto& [name, offset] : said) {
    if (inputs.contains(name)) continue;
    return Status::Usage(
        fmt::format("{}: {} is no partition of an input of the application", path, Named(name)));
  }
  return Status::Ok();
}

// What the target says before the logs are looked at.
Result<Offsets> Wanted(const ResetTarget& target, const Committed& inputs) {
  using Kind = ResetTarget::Kind;
  if (target.kind == Kind::kFile) {
    KSTREAM_ASSIGN_OR_RETURN(Offsets said, ReadFile(target.file));
    KSTREAM_RETURN_IF_ERROR(CheckFile(target.file, said, inputs));
    return said;
  }
  Offsets wanted;
  for (const auto& [name, committed] : inputs) {
    if (target.kind == Kind::kShift && !committed) {
      return Status::Usage(fmt::format(
          "--shift-by: nothing is committed of {}, so there is nothing to shift", Named(name)));
    }
    int64_t offset = target.kind == Kind::kLatest ? INT64_MAX : 0;
    if (target.kind == Kind::kOffset) offset = target.number;
    // A committed offset is not negative, so only the sum may be too large.
    if (target.kind == Kind::kShift && __builtin_add_overflow(*committed, target.number, &offset)) {
      offset = INT64_MAX;
    }
    wanted[name] = offset;
  }
  return wanted;
}

}  // namespace

Result<Offsets> Resolve(const ResetTarget& target, const Committed& inputs,
                        transport::Admin* admin) {
  using Kind = ResetTarget::Kind;
  std::vector<TopicPartition> names;
  for (const auto& [name, committed] : inputs) names.push_back(name);
  if (target.kind == Kind::kTime) return admin->OffsetsForTime(names, target.number);
  KSTREAM_ASSIGN_OR_RETURN(Offsets offsets, Wanted(target, inputs));
  KSTREAM_ASSIGN_OR_RETURN(const auto logs, admin->Offsets(names));
  const bool exact = target.kind != Kind::kEarliest && target.kind != Kind::kLatest;
  for (auto& [name, offset] : offsets) {
    const auto log = logs.at(name);
    const int64_t within = std::clamp(offset, log.low, log.high);
    if (exact && within != offset) {
      Log(LogLevel::kWarning, fmt::format("{}: offset {} is not in its log, which has {} to {}: {} "
                                          "is taken",
                                          Named(name), offset, log.low, log.high, within));
    }
    offset = within;
  }
  return offsets;
}

}  // namespace admin
}  // namespace kstream
