#include "kstream-inspect-state/inspect_tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/output.h"
#include "common/process.h"
#include "common/stage_plan.h"
#include "kstream/log.h"

namespace kstream::tools {
namespace {

using Json = nlohmann::ordered_json;

Setter SetNumber(std::optional<int64_t>* target, int64_t most) {
  return [target, most](std::string_view text) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > most) {
      return Status::Usage(fmt::format("'{}' is no number from 0 to {}", text, most));
    }
    *target = number;
    return Status::Ok();
  };
}

// What all --to-... and their kin are called together.
constexpr std::string_view kTarget = "a target of reset";

Json OrNull(const std::optional<int64_t>& number) { return number ? Json(*number) : Json(); }
Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

// What does not apply is left out, but in a table.
Json StepToJson(const ResetStep& step, bool all) {
  Json json = {{"step", ToString(step.kind)},
               {"topic", OrNull(step.topic)},
               {"partition", step.partition < 0 ? Json() : Json(step.partition)},
               {"from", OrNull(step.before)},
               {"to", OrNull(step.after)},
               {"path", OrNull(step.path)}};
  for (auto member = json.begin(); !all && member != json.end();) {
    member = member->is_null() ? json.erase(member) : std::next(member);
  }
  return json;
}

}  // namespace

const std::vector<InspectTool::Command>& InspectTool::Commands() {
  static const std::vector<Command> kCommands = {
      {"ls", {}, {"--from-http", "--token"}, &InspectTool::List},
      {"get",
       {"KEY"},
       {"--store", "--task", "--from-changelog", "--from-http", "--token"},
       &InspectTool::Get},
      {"scan",
       {},
       {"--store", "--task", "--from-changelog", "--from-http", "--token", "--prefix", "--from",
        "--to", "--at-window", "--limit"},
       &InspectTool::Scan},
      {"stats",
       {},
       {"--store", "--task", "--from-changelog", "--from-http", "--token"},
       &InspectTool::Stats},
      {"history", {"KEY"}, {"--store", "--task", "--limit"}, &InspectTool::History},
      {"dump", {}, {"--store", "--task", "--from-changelog"}, &InspectTool::Dump},
      {"load", {"FILE"}, {"--store", "--replace", "--execute"}, &InspectTool::RunLoad},
      {"diff", {"A", "B"}, {"--store", "--task"}, &InspectTool::Diff},
      {"verify", {}, {"--store", "--task"}, &InspectTool::Verify},
      {"reset", {}, {kTarget, "--backup", "--adopt", "--execute"}, &InspectTool::RunReset}};
  return kCommands;
}

void InspectTool::Setup(CommandLine* line) {
  line->groups.push_back(Where());
  line->groups.push_back(Rows());
  line->groups.push_back(ResetFlags());
  line->positional.metavar = "COMMAND [ARGUMENT]...";
  line->positional.help =
      "ls: stores, their tasks, size and age (without --app: applications); get KEY: its row; "
      "scan: rows in the order of keys; stats: exact sums over all rows; history KEY: what its "
      "changelog has of it; dump: rows for load; load FILE: put rows into a store; diff A B: what "
      "two states have differently; verify: compare the directory with its changelog; reset: back "
      "to a beginning";
  line->positional.set = Append(&words_);
  line->positional.many = true;
  for (const Command& command : Commands()) line->positional.choices.push_back(command.name);
}

Setter InspectTool::Seen(std::string_view flag, Setter set) {
  return [this, flag, set = std::move(set)](std::string_view value) {
    seen_.push_back(flag);
    return set(value);
  };
}

FlagGroup InspectTool::Where() {
  return {
      "Whose state, and from where",
      {{.names = "-G,--app",
        .metavar = "ID",
        .help = "the application",
        .option = &options_.runtime},
       {.names = "--state-dir",
        .metavar = "DIR",
        .help = "where the state of applications is kept (default $XDG_STATE_HOME/kstream, "
                "else ~/.local/state/kstream)",
        .takes_file = true,
        .option = &options_.runtime},
       BrokersFlag(&options_),
       ConfigFlag(&options_),
       PropertyFlag(&options_),
       {.names = "--from-changelog",
        .metavar = "",
        .help = "read all from the changelogs, nothing from the directory; without it, where "
                "there are brokers, the tail of the changelogs is laid over the directory",
        .set = Seen("--from-changelog", Set(&from_changelog_))},
       {.names = "--from-http",
        .metavar = "[HOST:]PORT",
        .help = "ask a process that runs with --http: what it has committed, of the tasks that "
                "it has (ls, get, scan, stats)",
        .set = Seen("--from-http", Set(&from_http_))},
       {.names = "--token",
        .metavar = "TOKEN",
        .help = "with --from-http: what that process wants to be shown (default $KSTREAM_TOKEN)",
        .set = Seen("--token", Set(&options_.token))}}};
}

FlagGroup InspectTool::Rows() {
  return {"Rows",
          {{.names = "--store",
            .metavar = "NAME",
            .help = "the store (default: the only one there is; for stats all)",
            .set = Seen("--store", Set(&store_))},
           {.names = "--task",
            .metavar = "N",
            .help = "only the instance of this task (default: all)",
            .set = Seen("--task", SetNumber(&task_, INT32_MAX))},
           {.names = "--prefix",
            .metavar = "P",
            .help = "keys that begin with P",
            .set = Seen("--prefix", Set(&prefix_))},
           {.names = "--from",
            .metavar = "KEY",
            .help = "keys from KEY on, in order of bytes",
            .set = Seen("--from", Set(&from_))},
           {.names = "--to",
            .metavar = "KEY",
            .help = "keys before KEY",
            .set = Seen("--to", Set(&to_))},
           {.names = "--at-window",
            .metavar = "TIME",
            .help = "only rows of windows that hold TIME, ms since the epoch or RFC 3339",
            .set = Seen("--at-window",
                        [this](std::string_view text) { return at_window_.AtWindow(text); })},
           {.names = "--limit",
            .metavar = "N",
            .help = "at most N rows",
            .set = Seen("--limit", SetNumber(&limit_, INT64_MAX))},
           {.names = "--replace",
            .metavar = "",
            .help = "with load: rows that the file does not have are deleted",
            .set = Seen("--replace", Set(&replace_))},
           {.names = "--pretty",
            .metavar = "",
            .help = "for people instead of JSON lines",
            .set = Set(&pretty_)}}};
}

Flag InspectTool::TargetFlag(std::string_view name, std::string_view metavar,
                             std::string_view help) {
  const auto set = [this, name](std::string_view value) {
    if (target_) return Status::Usage("inputs have one target already: give one");
    KSTREAM_ASSIGN_OR_RETURN(target_, ResetTarget::Parse(name.substr(2), value));
    return Status::Ok();
  };
  return {.names = name,
          .metavar = metavar,
          .help = help,
          .takes_file = metavar == "FILE",
          .set = Seen(kTarget, set)};
}

FlagGroup InspectTool::ResetFlags() {
  return {"Reset (the inputs need one target; all else is forgotten)",
          {TargetFlag("--to-earliest", "", "read inputs from their beginnings"),
           TargetFlag("--to-latest", "", "read what comes from now on"),
           TargetFlag("--to-datetime", "TIME",
                      "from a time on: RFC 3339, ms since the epoch, or a duration ago (-1h)"),
           TargetFlag("--by-duration", "DUR", "from so long ago on"),
           TargetFlag("--to-offset", "N", "from an offset on, the same in all partitions"),
           TargetFlag("--shift-by", "N", "forward or, with -N, back from where each stands"),
           TargetFlag("--from-file", "FILE", "as lines of topic,partition,offset say"),
           {.names = "--backup",
            .metavar = "DIR",
            .help = "first copy the changelogs to DIR, as envelopes",
            .takes_file = true,
            .set = Seen("--backup", Set(&backup_))},
           {.names = "--adopt",
            .metavar = "TOPIC",
            .help = "an internal topic that no manifest lists is this application's all the same "
                    "(repeat the flag)",
            .set = Seen("--adopt", Append(&adopt_))},
           {.names = "--execute",
            .metavar = "",
            .help = "do it (reset, load); without this the plan is printed, and nothing is changed",
            .set = Seen("--execute", Set(&execute_))}}};
}

Status InspectTool::CheckFlags(const Command& command) const {
  for (const std::string_view flag : seen_) {
    if (std::ranges::find(command.flags, flag) != command.flags.end()) continue;
    return Status::Usage(fmt::format("{} says nothing to {}", flag, command.name));
  }
  const size_t given = words_.size() - 1, wanted = command.arguments.size();
  if (given < wanted) {
    return Status::Usage(
        fmt::format("{} needs {}", command.name, fmt::join(command.arguments, " and ")));
  }
  if (given > wanted) {
    return Status::Usage(
        fmt::format("unexpected argument '{}' of {}", words_[wanted + 1], command.name));
  }
  return Status::Ok();
}

Status InspectTool::Run(bool has_positional, Reporter*) {
  std::vector<std::string_view> names;
  for (const Command& command : Commands()) names.push_back(command.name);
  if (options_.dump_properties) {
    KSTREAM_ASSIGN_OR_RETURN(const Places places, FindPlaces(options_));
    return WriteStdout(DumpProperties("home", places.clusters.front().properties));
  }
  if (!has_positional) {
    return Status::Usage(fmt::format("COMMAND is missing: one of {}", fmt::join(names, ", ")));
  }
  const auto command = std::ranges::find(Commands(), words_.front(), &Command::name);
  if (command == Commands().end()) {
    return Status::Usage(
        fmt::format("unknown command '{}': one of {}", words_.front(), fmt::join(names, ", ")));
  }
  KSTREAM_RETURN_IF_ERROR(CheckFlags(*command));
  return (this->*command->run)();
}

Status InspectTool::RunReset() {
  if (!target_) {
    return Status::Usage(
        "reset: say where inputs are read from: --to-earliest, --to-latest, --to-datetime, "
        "--by-duration, --to-offset, --shift-by or --from-file");
  }
  KSTREAM_ASSIGN_OR_RETURN(const InspectOptions where, Options());
  KSTREAM_ASSIGN_OR_RETURN(const auto reset, Reset::Open({.app = where.app,
                                                          .state_dir = where.state_dir,
                                                          .home = where.home,
                                                          .target = *target_,
                                                          .backup = backup_,
                                                          .adopt = adopt_}));
  Output out;
  const auto show = [&](const ResetStep& step) { out.Row(StepToJson(step, pretty_), pretty_); };
  if (execute_) {
    // Each step is told before the next begins: what a line says is needed to undo it.
    const Status done = reset->Execute([&](const ResetStep& step) {
      show(step);
      return pretty_ ? Status::Ok() : out.Flush();
    });
    KSTREAM_RETURN_IF_ERROR(out.Flush());
    KSTREAM_RETURN_IF_ERROR(done);
    Log(LogLevel::kInfo, fmt::format("application {} is reset", where.app));
    return Status::Ok();
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto plan, reset->Plan());
  for (const ResetStep& step : plan) show(step);
  KSTREAM_RETURN_IF_ERROR(out.Flush());
  Log(LogLevel::kInfo, "this is the plan, and nothing was changed: --execute does it");
  return Status::Ok();
}

}  // namespace kstream::tools
