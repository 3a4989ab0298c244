// RuntimeOptions::Set: options by the names and words of the command line. The tools' flags go
// through it, a program of one's own may, and so all refuse the same values in the same words.
//
// One table names every option; what a value may be is said by its setter. Tested by
// tests/unit/runtime/options_test.cc; tests/unit/tools/options_test.cc holds the table equal to the
// flags of the tools.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kstream/nearest.h"
#include "kstream/properties.h"
#include "kstream/runtime.h"
#include "kstream/units.h"
#include "runtime/configuration.h"
#include "runtime/from_spec.h"
#include "runtime/layout.h"

namespace kstream {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxPartitions = 100'000;
constexpr int64_t kMaxReplicas = 1000;
constexpr int64_t kMaxThreads = 256;
constexpr int64_t kMostStandbys = 1000;

// --- what several options take ---

// A whole number of [min, max].
Result<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = end == text.data() + text.size() && error != std::errc::invalid_argument;
  if (!number) return Status::Usage(fmt::format("'{}' is not a whole number", text));
  if (error == std::errc() && value >= min && value <= max) return value;
  if (max == kMax) {
    return Status::Usage(fmt::format("{} is not a number of at least {}", text, min));
  }
  return Status::Usage(fmt::format("{} is not between {} and {}", text, min, max));
}

using runtime::CheckChoice;
using Setter = Status (*)(RuntimeOptions* options, std::string_view text);

template <auto member, int64_t min, int64_t max>
Status SetInteger(RuntimeOptions* options, std::string_view text) {
  KSTREAM_ASSIGN_OR_RETURN(const int64_t value, ParseInteger(text, min, max));
  using Member = std::remove_reference_t<decltype(options->*member)>;
  if constexpr (std::is_same_v<Member, int>) {
    options->*member = static_cast<int>(value);
  } else {
    options->*member = value;
  }
  return Status::Ok();
}

// At least `min` ms.
template <auto member, int64_t min>
Status SetDuration(RuntimeOptions* options, std::string_view text) {
  KSTREAM_ASSIGN_OR_RETURN(const std::chrono::milliseconds duration, ParseDuration(text));
  if (duration.count() < min) return Status::Usage(fmt::format("{} is not longer than 0", text));
  options->*member = duration;
  return Status::Ok();
}

template <auto member>
Status SetSwitch(RuntimeOptions* options, std::string_view text) {
  if (text != "true") return Status::Usage("takes no value");
  options->*member = true;
  return Status::Ok();
}

template <auto member>
Status SetText(RuntimeOptions* options, std::string_view text) {
  options->*member = text;
  return Status::Ok();
}

// --- clusters ---

// Adds to what a cluster has, by the one rule of ToCluster.
void AddProperties(std::vector<Property> added, ClusterOptions* cluster) {
  using Side = Property::Side;
  std::vector<Property> all;
  if (!cluster->brokers.empty()) {
    all.push_back({Side::kBoth, "bootstrap.servers", cluster->brokers, ""});
  }
  for (const auto& [name, value] : cluster->consumer) all.push_back({Side::kIn, name, value, ""});
  for (const auto& [name, value] : cluster->producer) all.push_back({Side::kOut, name, value, ""});
  std::move(added.begin(), added.end(), std::back_inserter(all));
  *cluster = ToCluster(all);
}

Status SetBrokers(RuntimeOptions* options, std::string_view text) {
  AddProperties({{Property::Side::kBoth, "bootstrap.servers", std::string(text), ""}},
                &options->home);
  return Status::Ok();
}

Status AddProperty(RuntimeOptions* options, std::string_view text) {
  KSTREAM_ASSIGN_OR_RETURN(Property property, ParseProperty(text, "-X"));
  AddProperties({std::move(property)}, &options->home);
  return Status::Ok();
}

Status AddFile(RuntimeOptions* options, std::string_view text) {
  KSTREAM_ASSIGN_OR_RETURN(std::vector<Property> properties, ReadProperties(std::string(text)));
  AddProperties(std::move(properties), &options->home);
  return Status::Ok();
}

Status AddCluster(RuntimeOptions* options, std::string_view text) {
  KSTREAM_ASSIGN_OR_RETURN(const auto cluster, ParseCluster(text));
  const auto& [name, properties] = cluster;
  if (!options->clusters.emplace(name, ToCluster(properties)).second) {
    return Status::Usage(fmt::format("{} is given twice", name));
  }
  return Status::Ok();
}

Status SetCreateOutput(RuntimeOptions* options, std::string_view text) {
  const size_t colon = text.find(':');
  int64_t replicas = 1;
  KSTREAM_ASSIGN_OR_RETURN(const int64_t partitions,
                           ParseInteger(text.substr(0, colon), 1, kMaxPartitions));
  if (colon != std::string_view::npos) {
    KSTREAM_ASSIGN_OR_RETURN(replicas, ParseInteger(text.substr(colon + 1), 1, kMaxReplicas));
  }
  options->create_output = {static_cast<int>(partitions), static_cast<int>(replicas)};
  return Status::Ok();
}

Status SetPartitioner(RuntimeOptions* options, std::string_view text) {
  KSTREAM_RETURN_IF_ERROR(runtime::CheckPartitioner(text));
  options->partitioner = text;
  return Status::Ok();
}

// --- tasks and members ---

Status SetFrom(RuntimeOptions* options, std::string_view text) {
  // Times that are so long ago are read again at the start, by the clock of then.
  KSTREAM_RETURN_IF_ERROR(runtime::FromSpec::Parse(text, 0).status());
  options->from = text;
  options->from_given = true;
  return Status::Ok();
}

Status SetGrouper(RuntimeOptions* options, std::string_view text) {
  KSTREAM_RETURN_IF_ERROR(runtime::GrouperChoice::Parse(text).status());
  options->grouper = text;
  return Status::Ok();
}

Status SetGuarantee(RuntimeOptions* options, std::string_view text) {
  KSTREAM_RETURN_IF_ERROR(CheckChoice(text, {"at-least-once", "exactly-once"}));
  options->guarantee = text == "exactly-once" ? Guarantee::kExactlyOnce : Guarantee::kAtLeastOnce;
  return Status::Ok();
}

Status SetEos(RuntimeOptions* options, std::string_view text) {
  if (text != "true") return Status::Usage("takes no value");
  return SetGuarantee(options, "exactly-once");
}

// --- stores ---

Status SetStoreType(RuntimeOptions* options, std::string_view text) {
  KSTREAM_RETURN_IF_ERROR(CheckChoice(text, {"rocksdb", "memory"}));
  options->store_type = text == "memory" ? StoreSpec::Engine::kMemory : StoreSpec::Engine::kRocksDb;
  return Status::Ok();
}

Status SetMemory(RuntimeOptions* options, std::string_view text) {
  KSTREAM_ASSIGN_OR_RETURN(const int64_t bytes, ParseSize(text));
  KSTREAM_RETURN_IF_ERROR(runtime::CheckMemory(bytes));
  options->memory = bytes;
  return Status::Ok();
}

Status SetStandby(RuntimeOptions* options, std::string_view text) {
  if (text == "all") {
    options->standby = RuntimeOptions::kAllStandbys;
    return Status::Ok();
  }
  const Result<int64_t> copies = ParseInteger(text, 0, kMostStandbys);
  if (!copies.ok()) {
    return Status::Usage(
        fmt::format("'{}' is neither all nor a number of instances, 0 to {}", text, kMostStandbys));
  }
  options->standby = static_cast<int>(*copies);
  return Status::Ok();
}

// --- records ---

Status SetSerde(RuntimeOptions* options, std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view side = text.substr(0, equals);
  if (equals == std::string_view::npos || (side != "key" && side != "value")) {
    return Status::Usage(fmt::format("'{}' is neither key=SERDE nor value=SERDE", text));
  }
  (side == "key" ? options->serdes.key : options->serdes.value) = text.substr(equals + 1);
  return Status::Ok();
}

Status SetOnError(RuntimeOptions* options, std::string_view text) {
  KSTREAM_RETURN_IF_ERROR(CheckChoice(text, {"fail", "skip", "dead-letter"}));
  options->on_error = text == "fail"   ? OnError::kFail
                      : text == "skip" ? OnError::kSkip
                                       : OnError::kDeadLetter;
  return Status::Ok();
}

Status SetDeadLetter(RuntimeOptions* options, std::string_view text) {
  std::set<std::string> clusters;
  for (const auto& [name, cluster] : options->clusters) clusters.insert(name);
  KSTREAM_ASSIGN_OR_RETURN(options->dead_letter,
                           Location::Parse(text, !options->home.brokers.empty(), clusters));
  // The policy that it is without a word; one that was asked for stands, and contradicts it.
  if (options->on_error == OnError::kFail) options->on_error = OnError::kDeadLetter;
  return Status::Ok();
}

struct Option {
  std::vector<std::string_view> names;  // the first is the one of messages
  Setter set;
};

const std::vector<Option>& Options() {
  using O = RuntimeOptions;
  static const std::vector<Option> kOptions = {
      {{"brokers", "bootstrap-server", "b"}, SetBrokers},
      {{"config", "F"}, AddFile},
      {{"X"}, AddProperty},
      {{"cluster"}, AddCluster},
      {{"app", "G"}, SetText<&O::app>},
      {{"from"}, SetFrom},
      {{"exit-at-end", "e"}, SetSwitch<&O::exit_at_end>},
      {{"close-at-end"}, SetSwitch<&O::close_at_end>},
      {{"idle-advance"}, SetDuration<&O::idle_advance, 1>},
      {{"limit", "c"}, SetInteger<&O::limit, 0, kMax>},
      {{"timeout"}, SetDuration<&O::timeout, 1>},
      {{"partitions"}, SetInteger<&O::partitions, 1, kMaxPartitions>},
      {{"s"}, SetSerde},
      {{"threads", "j"}, SetInteger<&O::threads, 1, kMaxThreads>},
      {{"guarantee"}, SetGuarantee},
      {{"eos"}, SetEos},
      {{"commit-interval"}, SetDuration<&O::commit_interval, 1>},
      {{"state-dir"}, SetText<&O::state_dir>},
      {{"store-type"}, SetStoreType},
      {{"memory"}, SetMemory},
      {{"standby"}, SetStandby},
      {{"instance-id"}, SetText<&O::instance_id>},
      {{"grouper"}, SetGrouper},
      {{"max-idle"}, SetDuration<&O::max_idle, 0>},
      {{"max-skew"}, SetDuration<&O::max_skew, 0>},
      {{"on-error"}, SetOnError},
      {{"dead-letter"}, SetDeadLetter},
      {{"max-errors"}, SetInteger<&O::max_errors, 0, kMax>},
      {{"partitioner"}, SetPartitioner},
      {{"create-output"}, SetCreateOutput},
      {{"dry-run", "n"}, SetSwitch<&O::dry_run>},
  };
  return kOptions;
}

std::string Dashed(std::string_view name) {
  return fmt::format("{}{}", name.size() == 1 ? "-" : "--", name);
}

Status Unknown(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : Options()) {
    for (const std::string_view known : option.names) {
      if (known.size() > 1) names.push_back(known);
    }
  }
  const std::string_view nearest = NearestName(name, names);
  if (nearest.empty()) return Status::Usage(fmt::format("unknown flag {}", Dashed(name)));
  return Status::Usage(
      fmt::format("unknown flag {}: did you mean {}?", Dashed(name), Dashed(nearest)));
}

}  // namespace

Status RuntimeOptions::Set(std::string_view name, std::string_view value) {
  const auto option =
      std::find_if(Options().begin(), Options().end(), [name](const Option& candidate) {
        return std::find(candidate.names.begin(), candidate.names.end(), name) !=
               candidate.names.end();
      });
  if (option == Options().end()) return Unknown(name);
  // A variable of the shell that is not set: taken as no flag at all, it would change what is done.
  const Status status = value.empty() ? Status::Usage("empty value") : option->set(this, value);
  return status.At(Dashed(option->names.front()));
}

std::string_view ToString(Guarantee guarantee) {
  return guarantee == Guarantee::kExactlyOnce ? "exactly-once" : "at-least-once";
}

std::chrono::milliseconds RuntimeOptions::CommitInterval() const {
  constexpr std::chrono::milliseconds kAtLeastOnce{1000}, kExactlyOnce{200};
  return commit_interval.value_or(guarantee == Guarantee::kExactlyOnce ? kExactlyOnce
                                                                       : kAtLeastOnce);
}

Result<std::string> RuntimeOptions::StateDir() const {
  if (!state_dir.empty()) return state_dir;
  const char* const xdg = std::getenv("XDG_STATE_HOME");
  // One that is not absolute is as none, says the XDG Base Directory Specification.
  if (xdg != nullptr && *xdg == '/') return fmt::format("{}/kstream", xdg);
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fmt::format("{}/.local/state/kstream", home);
  return Status::Usage(
      "neither XDG_STATE_HOME nor HOME names a directory to keep state in: give one with "
      "--state-dir");
}

}  // namespace kstream
