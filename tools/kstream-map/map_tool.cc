#include "kstream-map/map_tool.h"

#include <fmt/format.h>

namespace kstream::tools {
namespace {

Setter AddHeader(std::vector<std::pair<std::string, Expression>>* headers) {
  return [headers](std::string_view text) {
    size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Status::Usage(fmt::format("'{}' is not NAME=EXPR", text));
    }
    std::optional<Expression> value;
    KSTREAM_RETURN_IF_ERROR(SetExpression(&value, {"out"})(text.substr(equals + 1)));
    headers->emplace_back(text.substr(0, equals), *std::move(value));
    return Status::Ok();
  };
}

}  // namespace

MapTool::MapTool() { options_.names = {"out"}; }

FlagGroup MapTool::OwnFlags() {
  return {"Map (in these expressions . is the value read and $out the value made)",
          {{.names = "--tombstone",
            .metavar = "EXPR",
            .help = "write a null payload where EXPR is true",
            .set = SetExpression(&tombstone_, {"out"})},
           {.names = "--set-key",
            .metavar = "EXPR",
            .help = "the key of what is written; null means no key",
            .set = SetExpression(&key_, {"out"})},
           {.names = "--header",
            .metavar = "NAME=EXPR",
            .help = "add a header; null makes a null value (repeat the flag for more)",
            .set = AddHeader(&headers_)},
           {.names = "--to",
            .metavar = "EXPR",
            .help = "the topic of each record, instead of --output",
            .set = SetExpression(&to_, {"out"})}}};
}

std::string_view MapTool::ExpressionHelp() const {
  return "jq ('{user, amount}'; a generator makes several records, empty makes none) or JsonLogic";
}

Status MapTool::AddNodes(const Places& places, StagePlan* plan) {
  if (tombstone_) KSTREAM_RETURN_IF_ERROR(CheckCondition(*tombstone_).At("--tombstone"));
  if (to_ && !options_.outputs.empty()) {
    return Status::Usage("--to contradicts --output: one of them says where records go");
  }
  if (to_ && !places.brokers) {
    return Status::Usage("--to names topics: say where they are with --brokers");
  }
  plan->nodes.push_back({"map",
                         {"in"},
                         MapSpec{.value = *expression_,
                                 .tombstone = tombstone_,
                                 .key = key_,
                                 .headers = headers_,
                                 .route = {.to = to_, .partition = options_.partition},
                                 .serdes = options_.runtime.serdes}});
  Location output{Location::Kind::kTopic, "", ""};
  if (!to_) {
    KSTREAM_ASSIGN_OR_RETURN(output, places.ParseOutput("--output", OutputOf(options_)));
  }
  AddSink(options_, "out", std::move(output), "map", plan);
  std::get<SinkSpec>(plan->nodes.back().spec).topic_of_record = to_.has_value();
  return Status::Ok();
}

}  // namespace kstream::tools
