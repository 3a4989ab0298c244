#include "topology_test/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kstream/test_driver.h"
#include "topology_test/values.h"

namespace kstream::topology_test {
namespace {

using topology_file::Fields;
using topology_file::FileValue;

// In an order in which each may be set: a dead letter is a policy, too.
constexpr std::string_view kOptions[] = {
    "threads",     "guarantee",    "eos",       "commit-interval", "on-error",
    "dead-letter", "grouper",      "max-idle",  "max-errors",      "max-skew",
    "partitioner", "idle-advance", "store-type"};

constexpr int64_t kMostPartitions = 1000;
constexpr int64_t kMostThreads = 64;

Status TakePartitions(FileValue value, Settings* settings) {
  const auto count_of = [](FileValue at) -> Result<int32_t> {
    KSTREAM_ASSIGN_OR_RETURN(const int64_t count, ParseCount(at, kMostPartitions));
    if (count == 0) return at.Error("a topic has at least 1 partition");
    return static_cast<int32_t>(count);
  };
  if (!value.is_object()) {
    KSTREAM_ASSIGN_OR_RETURN(settings->default_partitions, count_of(value));
    return Status::Ok();
  }
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members, value.Members(""));
  for (const FileValue::Member& member : members) {
    KSTREAM_ASSIGN_OR_RETURN(const int32_t count, count_of(member.value));
    settings->partitions.insert_or_assign(member.name,
                                          Settings::Partitions{count, member.name_value});
  }
  return Status::Ok();
}

Status TakeVariables(FileValue value, Settings* settings) {
  using Option = Settings::Option;
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members,
                           value.Members("an object of variables"));
  for (const FileValue::Member& member : members) {
    KSTREAM_ASSIGN_OR_RETURN(std::string text, member.value.FlagText());
    settings->set.insert_or_assign(member.name, Option{std::move(text), member.name_value});
  }
  return Status::Ok();
}

}  // namespace

bool Settings::Has(std::string_view option) {
  return std::ranges::find(kOptions, option) != std::end(kOptions);
}

Status Settings::Take(Fields* fields) {
  if (const auto value = fields->Take("set")) KSTREAM_RETURN_IF_ERROR(TakeVariables(*value, this));
  if (const auto value = fields->Take("partitions")) {
    KSTREAM_RETURN_IF_ERROR(TakePartitions(*value, this));
  }
  if (const auto value = fields->Take("clusters")) {
    KSTREAM_ASSIGN_OR_RETURN(const auto items, value->Items("an array of names"));
    for (const FileValue& item : items) {
      KSTREAM_ASSIGN_OR_RETURN(std::string name, item.Text());
      clusters.insert(std::move(name));
    }
  }
  if (const auto value = fields->Take("now")) {
    KSTREAM_ASSIGN_OR_RETURN(now, ParseTime(*value));
    if (*now > TestDriver::kLastTime) return value->Error("the clock goes as far as 2255");
  }
  for (const std::string_view name : kOptions) {
    const auto value = fields->Take(name);
    if (!value) continue;
    KSTREAM_ASSIGN_OR_RETURN(std::string text, value->type() == json::Type::kFalse
                                                   ? Result<std::string>(std::string())
                                                   : value->FlagText());
    options.insert_or_assign(std::string(name), Option{std::move(text), *value});
  }
  return Status::Ok();
}

Status Settings::Apply(RuntimeOptions* runtime) const {
  for (const std::string_view name : kOptions) {
    const auto found = options.find(std::string(name));
    if (found == options.end() || found->second.value.empty()) continue;
    const auto& [value, at] = found->second;
    if (const Status status = runtime->Set(name, value); !status.ok()) {
      return at.Error(status.message());
    }
    if (name == "threads" && runtime->threads > kMostThreads) {
      return at.Error(fmt::format("{} threads are more than {}", value, kMostThreads));
    }
  }
  return Status::Ok();
}

bool Settings::BuildsLike(const Settings& other) const {
  const auto same = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.value == b.second.value;
  };
  return std::ranges::equal(set, other.set, same) && clusters == other.clusters &&
         std::ranges::equal(options, other.options, same);
}

}  // namespace kstream::topology_test
