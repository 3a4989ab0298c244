#include "kstream-filter/filter_tool.h"

#include <fmt/format.h>

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
            .set = Set(&rest_)},
           {.names = "--unique-by",
            .metavar = "EXPR",
            .help = "leave out a record that repeats a kept one: the same value of EXPR, and times "
                    "no further apart than --within; null repeats nothing",
            .set = SetExpression(&unique_by_)},
           {.names = "--within",
            .metavar = "DUR",
            .help = "with --unique-by: for how long before and after a record others repeat it",
            .set = SetDuration(&within_)},
           {.names = "--grace",
            .metavar = "DUR",
            .help = "with --unique-by: how far out of order records may be for each repeat to be "
                    "found (default as --within)",
            .set = SetDuration(&grace_)},
           {.names = "--store",
            .metavar = "NAME",
            .help = "with --unique-by: the name of the store of what was kept (default unique)",
            .set = Set(&store_)}}};
}

std::string_view FilterTool::ExpressionHelp() const {
  return "jq ('.amount > 100'; kept when an output is neither false nor null) or JsonLogic "
         "('{\">\":[{\"var\":\"amount\"},100]}')";
}

Status FilterTool::CheckUnique() const {
  if (!unique_by_) {
    const std::string_view flag = within_           ? "--within"
                                  : grace_          ? "--grace"
                                  : !store_.empty() ? "--store"
                                                    : "";
    if (flag.empty()) return Status::Ok();
    return Status::Usage(fmt::format("{} is for what is unique: give --unique-by", flag));
  }
  if (!within_) {
    return Status::Usage("--within is missing: for how long a record is not to be repeated");
  }
  if (table_) {
    return Status::Usage("--unique-by contradicts --table: a row that is written again may differ");
  }
  return CheckStoreName(store_.empty() ? "unique" : store_);
}

Status FilterTool::AddUnique(StagePlan* plan) const {
  const auto source = std::get<SourceSpec>(plan->nodes.front().spec);
  const RuntimeOptions& runtime = options_.runtime;
  DistinctSpec unique{.by = unique_by_,
                      .within = *within_,
                      .grace = grace_,
                      .kept = "out",
                      .route = {.to = {}, .partition = options_.partition},
                      .serdes = runtime.serdes};
  if (!rest_.empty()) unique.rest = "else";
  const std::string store = store_.empty() ? "unique" : store_;
  const bool on_disk = runtime.store_type == StoreSpec::Engine::kRocksDb;
  if (on_disk || !runtime.app.empty()) unique.store = store;
  KSTREAM_RETURN_IF_ERROR(Distinct(unique).status());
  if (!GroupsScattered(source, runtime, unique_by_->text() == "$key")) {
    std::get<FilterSpec>(plan->nodes.back().spec).kept = "unique";
    plan->nodes.push_back({"unique", {"filter"}, std::move(unique)});
    return Status::Ok();
  }
  if (!rest_.empty() && expression_->text() != "true") {
    return Status::Usage(
        "--else with --unique-by: what EXPR does not keep and what repeats are told apart in two "
        "stages here: give EXPR and --unique-by a command each");
  }
  auto& filter = std::get<FilterSpec>(plan->nodes.back().spec);
  filter.kept = "unique-key";
  filter.rest.clear();
  plan->nodes.push_back(
      {"unique-key", {"filter"}, DistinctKeySpec{.by = *unique_by_, .serdes = runtime.serdes}});
  AddRepartition("unique-key", "repartition", "gathered", store, plan);
  unique.by.reset();
  plan->nodes.push_back({"unique", {"gathered"}, std::move(unique)});
  return Status::Ok();
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
  KSTREAM_RETURN_IF_ERROR(CheckUnique());
  if (unique_by_) KSTREAM_RETURN_IF_ERROR(AddUnique(plan));
  const std::string last = unique_by_ ? "unique" : "filter";
  AddSink(options_, "out", std::move(kept), last, plan);
  if (!rest_.empty()) {
    KSTREAM_ASSIGN_OR_RETURN(Location rest, places.ParseOutput("--else", rest_));
    const bool filters = !std::get<FilterSpec>(plan->nodes.at(1).spec).rest.empty();
    AddSink(options_, "else", std::move(rest), filters ? "filter" : last, plan);
    if (filters && unique_by_) plan->nodes.back().parents.push_back(last);
  }
  return Status::Ok();
}

}  // namespace kstream::tools
