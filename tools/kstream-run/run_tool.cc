#include "kstream-run/run_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "common/process.h"
#include "common/run.h"
#include "kstream/log.h"

namespace kstream::tools {
namespace {

// Flags of stages that are fields of a node here.
constexpr std::string_view kOfNodes[] = {"--input",      "--output",         "--key",
                                         "--timestamp",  "--timestamp-unit", "--partition",
                                         "--print-spec", "--explain"};

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
            .set = SetVariable(&variables_)}}};
}

void RunTool::Setup(CommandLine* line) {
  line->positional = {"FILE", "the topology, as JSON; its fields are told in kstream-run(1)",
                      Set(&path_)};
  line->groups.push_back(OwnFlags());
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
  if (options_.on_error.empty() && options_.dead_letter.empty()) return runtime;
  runtime.on_error = OnError::kFail;
  runtime.dead_letter.reset();
  KSTREAM_RETURN_IF_ERROR(SetErrorPolicy(options_, places, &runtime));
  return runtime;
}

Status RunTool::Run(bool has_positional, Reporter* reporter) {
  KSTREAM_ASSIGN_OR_RETURN(const Places places, FindPlaces(options_));
  if (options_.dump_properties) {
    return WriteStdout(DumpOptions(places.clusters, options_.runtime));
  }
  if (!has_positional) {
    return Status::Usage(
        "FILE is missing: usage: kstream-run [OPTION]... FILE (-h lists the options)");
  }
  KSTREAM_ASSIGN_OR_RETURN(const TopologyFile file, TopologyFile::Read(path_, variables_));
  KSTREAM_ASSIGN_OR_RETURN(const RuntimeOptions runtime, Configure(file, places));
  KSTREAM_ASSIGN_OR_RETURN(const BuiltTopology built,
                           file.Build(runtime, {options_.source, options_.sink}));
  KSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> run,
                           Runtime::Create(built.topology, runtime));
  const bool topics = !runtime.home.brokers.empty() || !runtime.clusters.empty();
  return RunToEnd(run.get(), runtime, topics, reporter);
}

}  // namespace kstream::tools
