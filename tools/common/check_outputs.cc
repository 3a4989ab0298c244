// CheckOutputs: a stage must not read what it writes, and two outputs must not overwrite each
// other.
#include <fmt/format.h>
#include <regex.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/stage_plan.h"

namespace kstream::tools {
namespace {

struct Output {
  std::string flag;
  Location location;
};

bool SameFile(const Location& a, const Location& b) {
  if (a.is_topic() || b.is_topic()) return false;
  std::error_code none;
  if (a.name == "-" || b.name == "-") return a.name == b.name;
  // Devices, such as /dev/null, are not spoilt by a second use.
  if (std::filesystem::exists(a.name, none) && !std::filesystem::is_regular_file(a.name, none)) {
    return false;
  }
  return std::filesystem::path(a.name).lexically_normal() ==
             std::filesystem::path(b.name).lexically_normal() ||
         std::filesystem::equivalent(a.name, b.name, none);
}

// A POSIX extended regular expression, which is what librdkafka makes of a pattern.
class Pattern {
 public:
  explicit Pattern(const std::string& text)
      : error_(regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB)) {}
  ~Pattern() {
    if (error_ == 0) regfree(&compiled_);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  Status status() const {
    if (error_ == 0) return Status::Ok();
    char text[128];
    regerror(error_, &compiled_, text, sizeof text);
    return Status::Usage(text);
  }
  bool Matches(const std::string& name) const {
    return regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t compiled_;
  int error_;
};

Status CheckInput(const Location& input, const std::vector<Output>& outputs) {
  if (input.is_pattern()) {
    Pattern pattern(input.name);
    if (auto status = pattern.status(); !status.ok()) return status.At("--input " + input.name);
    for (const auto& [flag, output] : outputs) {
      bool reads_it =
          output.is_topic() && output.cluster == input.cluster && pattern.Matches(output.name);
      if (!reads_it) continue;
      return Status::Usage(fmt::format(
          "{} {}: an output that matches the input pattern {}: the stage would read what it writes",
          flag, output.name, input.name));
    }
    return Status::Ok();
  }
  for (const auto& [flag, output] : outputs) {
    bool same = input.is_topic() ? input == output : input.name != "-" && SameFile(input, output);
    if (!same) continue;
    return Status::Usage(
        fmt::format("{} {}: an output that is also an input: the stage would read what it writes",
                    flag, output.name));
  }
  return Status::Ok();
}

std::string FlagOf(const PlanNode& sink) {
  return sink.name == "out" ? "--output" : "--" + sink.name;
}

}  // namespace

Status CheckOutputs(const StagePlan& plan) {
  std::vector<Output> outputs;
  for (const PlanNode& node : plan.nodes) {
    const auto* sink = std::get_if<SinkSpec>(&node.spec);
    if (sink && !sink->topic_of_record) outputs.push_back({FlagOf(node), sink->output});
  }
  if (plan.runtime.dead_letter) outputs.push_back({"--dead-letter", *plan.runtime.dead_letter});

  for (const PlanNode& node : plan.nodes) {
    const auto* source = std::get_if<SourceSpec>(&node.spec);
    if (source == nullptr) continue;
    for (const Location& input : source->inputs)
      KSTREAM_RETURN_IF_ERROR(CheckInput(input, outputs));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!SameFile(outputs[i].location, outputs[j].location)) continue;
      return Status::Usage(fmt::format("{} and {} would overwrite each other: {}", outputs[j].flag,
                                       outputs[i].flag, outputs[i].location.name));
    }
  }
  return Status::Ok();
}

}  // namespace kstream::tools
