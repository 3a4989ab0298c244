#include "kstream-filter/filter_tool.h"

#include <utility>

namespace kstream::tools {

FlagGroup FilterTool::OwnFlags() {
  return {"Filter",
          {{.names = "--not",
            .metavar = "",
            .help = "keep the records for which EXPR is not true",
            .set = Set(&negate_)},
           {.names = "--table",
            .metavar = "",
            .help = "the input is a table: a row for which EXPR is not true is written with a null "
                    "payload, which deletes it",
            .set = Set(&table_)},
           {.names = "--else",
            .metavar = "DST",
            .help = "write the records that are not kept to DST, read as --output is",
            .takes_file = true,
            .set = Set(&rest_)}}};
}

std::string_view FilterTool::ExpressionHelp() const {
  return "jq ('.amount > 100'; kept when an output is neither false nor null) or JsonLogic "
         "('{\">\":[{\"var\":\"amount\"},100]}')";
}

Status FilterTool::AddNodes(const Places& places, StagePlan* plan) {
  KSTREAM_RETURN_IF_ERROR(CheckCondition(*expression_).At("EXPR"));
  KSTREAM_ASSIGN_OR_RETURN(Location kept, places.ParseOutput("--output", OutputOf(options_)));
  FilterSpec filter{.keep = *expression_,
                    .negate = negate_,
                    .table = table_,
                    .kept = "out",
                    .rest = "",
                    .route = {.to = {}, .partition = options_.partition},
                    .serdes = options_.runtime.serdes};
  if (!rest_.empty()) filter.rest = "else";
  plan->nodes.push_back({"filter", {"in"}, std::move(filter)});
  AddSink(options_, "out", std::move(kept), "filter", plan);
  if (!rest_.empty()) {
    KSTREAM_ASSIGN_OR_RETURN(Location rest, places.ParseOutput("--else", rest_));
    AddSink(options_, "else", std::move(rest), "filter", plan);
  }
  return Status::Ok();
}

}  // namespace kstream::tools
