#include "kstream-run/run_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "common/process.h"
#include "common/run.h"
#include "kstream-run/explain_topology.h"
#include "kstream-run/history.h"
#include "kstream/log.h"
#include "kstream/nearest.h"
#include "kstream/online_check.h"
#include "kstream/stages.h"

namespace kstream::tools {
namespace {

// Flags of stages that are fields of a node here.
constexpr std::string_view kOfNodes[] = {"--input",     "--output",         "--key",
                                         "--timestamp", "--timestamp-unit", "--partition",
                                         "--print-spec"};

bool IsOfNode(const Flag& flag) {
  return std::ranges::find(kOfNodes, MainName(flag)) != std::end(kOfNodes);
}

Setter SetVariable(TopologyVariables* variables) {
  return [variables](std::string_view text) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      return Status::Usage(fmt::format("'{}' is not NAME=VALUE", text));
    }
    std::string name(text.substr(0, equals));
    if (!variables->given.emplace(name, text.substr(equals + 1)).second) {
      return Status::Usage(fmt::format("{} is given twice", name));
    }
    return Status::Ok();
  };
}

}  // namespace

FlagGroup RunTool::OwnFlags() {
  return {"Topology",
          {{.names = "--set",
            .metavar = "NAME=VALUE",
            .help = "what ${NAME} in FILE stands for (default: the environment's; repeat the flag "
                    "for more)",
            .set = SetVariable(&variables_)},
           {.names = "--only",
            .metavar = "NODE",
            .help = "run the stage that holds NODE, as an application of its own; the others are "
                    "run elsewhere, and meet it in topics",
            .set = Set(&only_)},
           {.names = "--plugin",
            .metavar = "FILE",
            .help = "load processors of one's own from a shared library (repeat the flag for "
                    "more)",
            .takes_file = true,
            .set = Append(&plugins_)},
           {.names = "--check",
            .metavar = "",
            .help = "check FILE and the flags, and run nothing",
            .set = Set(&check_)},
           {.names = "--online",
            .metavar = "",
            .help = "with --check and --explain: ask the brokers, too: topics, partitions, "
                    "retention, what is still to do",
            .set = Set(&online_)}}};
}

void RunTool::Setup(CommandLine* line) {
  line->positional = {"FILE", "the topology, as JSON; its fields are told in kstream-run(1)",
                      Set(&path_)};
  line->groups.push_back(OwnFlags());
  line->groups.push_back(TestFlags(&test_));
  AddStageFlags(&options_, line);
  for (FlagGroup& group : line->groups) {
    std::erase_if(group.flags, IsOfNode);
    for (Flag& flag : group.flags) {
      if (flag.option != nullptr) flag.given = &given_;
    }
  }
}

Result<RuntimeOptions> RunTool::Configure(const TopologyFile& file, const Places& places) {
  RuntimeOptions runtime;
  AddClusters(places, &runtime);
  KSTREAM_RETURN_IF_ERROR(file.Configure(&runtime));
  for (const auto& [name, value] : given_) KSTREAM_RETURN_IF_ERROR(runtime.Set(name, value));
  StageOptions policy = options_;
  if (options_.on_error.empty() && options_.dead_letter.empty()) {
    if (runtime.on_error == OnError::kSkip) policy.on_error = "skip";
    if (runtime.dead_letter) policy.dead_letter = runtime.dead_letter->ToString();
  }
  runtime.on_error = OnError::kFail;
  runtime.dead_letter.reset();
  KSTREAM_RETURN_IF_ERROR(SetErrorPolicy(policy, places, &runtime));
  return runtime;
}

Result<TopologyFileDefaults> RunTool::Defaults() const {
  TopologyFileDefaults defaults{options_.source, options_.sink, {}};
  for (const std::string& path : plugins_) {
    KSTREAM_RETURN_IF_ERROR(defaults.plugins.Load(path).At("--plugin"));
  }
  return defaults;
}

// Cases are the threads of a test run; how many threads the application has is said in each.
Status RunTool::Test(bool has_positional, Reporter* reporter) {
  if (check_ || online_ || !options_.explain.empty() || !only_.empty()) {
    return Status::Usage("--test runs cases, without --check, --online, --explain and --only");
  }
  TopologyTestOptions test{.topology = has_positional ? path_ : "", .variables = variables_};
  KSTREAM_ASSIGN_OR_RETURN(test.defaults, Defaults());
  if (!options_.on_error.empty()) test.options.emplace_back("on-error", options_.on_error);
  if (!options_.dead_letter.empty()) test.options.emplace_back("dead-letter", options_.dead_letter);
  for (const auto& [name, value] : given_) {
    if (name != "threads") test.options.emplace_back(name, value);
  }
  test_.jobs = options_.runtime.threads;
  return RunTests(test_, test, reporter);
}

Status RunTool::Run(bool has_positional, Reporter* reporter) {
  KSTREAM_ASSIGN_OR_RETURN(const Places places, FindPlaces(options_));
  if (options_.dump_properties) {
    return WriteStdout(DumpOptions(places.clusters, options_.runtime));
  }
  if (!test_.files.empty()) return Test(has_positional, reporter);
  if (!test_.report.empty() || test_.update) {
    return Status::Usage(fmt::format("{} is for tests: name a file of them with --test",
                                     test_.update ? "--update" : "--report"));
  }
  if (!has_positional) {
    return Status::Usage(
        "FILE is missing: usage: kstream-run [OPTION]... FILE (-h lists the options)");
  }
  if (online_ && !check_ && options_.explain.empty()) {
    return Status::Usage("--online is for --check and --explain");
  }
  KSTREAM_ASSIGN_OR_RETURN(const TopologyFileDefaults defaults, Defaults());
  KSTREAM_ASSIGN_OR_RETURN(const TopologyFile file, TopologyFile::Read(path_, variables_));
  KSTREAM_ASSIGN_OR_RETURN(RuntimeOptions runtime, Configure(file, places));
  KSTREAM_ASSIGN_OR_RETURN(BuiltTopology built, file.Build(runtime, defaults));
  if (!only_.empty()) KSTREAM_RETURN_IF_ERROR(TakeOnly(&built, &runtime));
  KSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> run,
                           Runtime::Create(built.topology, runtime));
  if (!options_.explain.empty() || check_) return Show(built, runtime);
  KSTREAM_ASSIGN_OR_RETURN(const auto http, HttpOf(options_, [&] {
                             return Print(ExplainTopology(built, runtime, path_), built.topology,
                                          runtime, "json");
                           }));
  const bool topics = !runtime.home.brokers.empty() || !runtime.clusters.empty();
  return RunToEnd(run.get(), runtime, topics, http, reporter);
}

Status RunTool::Show(const BuiltTopology& built, const RuntimeOptions& runtime) const {
  OnlineReport report;
  if (online_) {
    KSTREAM_ASSIGN_OR_RETURN(report, CheckOnline(built.topology, runtime));
  }
  if (!options_.explain.empty()) {
    Explanation explanation = ExplainTopology(built, runtime, path_);
    explanation.facts = report.topics;
    KSTREAM_RETURN_IF_ERROR(
        WriteStdout(Print(std::move(explanation), built.topology, runtime, options_.explain)));
  } else {
    for (const TopicFacts& facts : report.topics) Log(LogLevel::kInfo, FactsText(facts));
  }
  for (std::string& warning : CheckHistory(built, report.topics)) {
    report.warnings.push_back(std::move(warning));
  }
  for (const std::string& warning : report.warnings) Log(LogLevel::kWarning, warning);
  for (size_t i = 1; i < report.problems.size(); ++i) {
    Log(LogLevel::kError, report.problems[i].message());
  }
  if (!report.problems.empty()) return report.problems.front();
  if (check_) {
    Log(LogLevel::kInfo, fmt::format("{}: nothing is wrong: {} nodes, {} stages", path_,
                                     built.nodes.size(), StagesOf(built.topology).size()));
  }
  return Status::Ok();
}

Status RunTool::TakeOnly(BuiltTopology* built, RuntimeOptions* runtime) const {
  std::vector<std::string_view> names;
  for (const TopologyFileNode& node : built->nodes) names.push_back(node.name);
  const auto named = std::ranges::find(built->nodes, only_, &TopologyFileNode::name);
  if (named == built->nodes.end()) {
    const std::string_view nearest = NearestName(only_, names);
    return Status::Usage(
        fmt::format("--only {}: {} has no such node{}", only_, path_,
                    nearest.empty() ? "" : fmt::format(": did you mean {}?", nearest)));
  }
  const std::vector<Stage> all = StagesOf(built->topology);
  const auto stage =
      std::ranges::find_if(all, [&](const Stage& one) { return Holds(one, *named); });
  if (stage == all.end()) return Status::Usage(fmt::format("--only {}: it is in no stage", only_));
  const bool internal = std::ranges::any_of(all, [](const Stage& one) {
    return std::ranges::any_of(one.inputs, [](const Location& input) {
      return input.kind == Location::Kind::kRepartition;
    });
  });
  if (internal && runtime->app.empty()) {
    return Status::Usage("--only needs --app: topics between the stages are named after it");
  }
  const std::string& first = stage->nodes.front();
  KSTREAM_ASSIGN_OR_RETURN(built->topology, OnlyStage(built->topology, first, runtime->app));
  std::erase_if(built->nodes, [&](const TopologyFileNode& node) {
    return std::ranges::none_of(stage->nodes, [&](const std::string& name) {
      return name == node.name || name == node.store || name.starts_with(node.name + "-");
    });
  });
  // Each stage has a group, a manifest and stores of its own.
  if (!runtime->app.empty()) runtime->app += "." + first;
  return Status::Ok();
}

}  // namespace kstream::tools
