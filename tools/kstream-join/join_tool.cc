#include "kstream-join/join_tool.h"

#include <fmt/format.h>

#include <utility>

namespace kstream::tools {
namespace {

Setter ChooseType(JoinType* type) {
  return [type](std::string_view text) {
    for (const JoinType one : {JoinType::kInner, JoinType::kLeft, JoinType::kOuter}) {
      if (text == ToString(one)) *type = one;
    }
    return Status::Ok();
  };
}

// Whether records may have keys of their own.
bool HasKeys(const SourceSpec& source) {
  return ReadsTopics(source) || source.format == "envelope";
}

}  // namespace

FlagGroup JoinTool::OwnFlags() {
  FlagGroup group{"Join", {}};
  std::vector<Flag>& flags = group.flags;
  flags.push_back({.names = "-l,--left",
                   .metavar = "SRC",
                   .help = "the left input: with brokers a topic or a ^pattern of topics, else a "
                           "file; - is stdin; file:PATH and topic:NAME always say which",
                   .takes_file = true,
                   .set = Set(&left_)});
  flags.push_back({.names = "-r,--right",
                   .metavar = "SRC",
                   .help = "the right input, as --left",
                   .takes_file = true,
                   .set = Set(&right_)});
  flags.push_back({.names = "--within",
                   .metavar = "DUR",
                   .help = "join records of equal keys whose times differ by DUR at most",
                   .set = SetDuration(&within_)});
  flags.push_back({.names = "--before",
                   .metavar = "DUR",
                   .help = "join right records that are earlier than the left one by DUR at most "
                           "(default 0s, or --within)",
                   .set = SetDuration(&before_)});
  flags.push_back({.names = "--after",
                   .metavar = "DUR",
                   .help = "join right records that are later than the left one by DUR at most "
                           "(default 0s, or --within)",
                   .set = SetDuration(&after_)});
  flags.push_back({.names = "--grace",
                   .metavar = "DUR",
                   .help = "how long past its window a record waits for others that are out of "
                           "order (default 0s)",
                   .set = SetDuration(&grace_)});
  flags.push_back({.names = "--prior",
                   .metavar = "",
                   .help = "join only right records that are earlier than the left one",
                   .set = Set(&prior_)});
  flags.push_back({.names = "--latest",
                   .metavar = "",
                   .help = "with --prior: of those only the newest",
                   .set = Set(&latest_)});
  flags.push_back({.names = "--type",
                   .metavar = "TYPE",
                   .help = "inner (default): pairs; left: left records without a partner too, with "
                           "a null as the right one; outer (not with --table): right ones without "
                           "a partner too",
                   .choices = {"inner", "left", "outer"},
                   .set = ChooseType(&type_)});
  flags.push_back({.names = "--left-key",
                   .metavar = "EXPR",
                   .help = "the key of left records (default: their own, or --key); a topic is "
                           "repartitioned by it first; null means no key, which matches none",
                   .set = SetExpression(&left_key_)});
  flags.push_back({.names = "--right-key",
                   .metavar = "EXPR",
                   .help = "the key of right records, likewise",
                   .set = SetExpression(&right_key_)});
  flags.push_back({.names = "--value",
                   .metavar = "EXPR",
                   .help = "the value of a result, made of $left, $right (null where there is "
                           "none) and $key (default {\"left\":..,\"right\":..})",
                   .set = SetExpression(&value_, {"left", "right"})});
  flags.push_back({.names = "--late",
                   .metavar = "DST",
                   .help = "write records that come too late to be joined to DST, as they came",
                   .takes_file = true,
                   .set = Set(&late_)});
  flags.push_back({.names = "--table",
                   .metavar = "",
                   .help = "the right input is a table: a record replaces the row of its key, one "
                           "without a value deletes it, and left records are joined with the row "
                           "as it is when their turn comes",
                   .set = Set(&table_)});
  flags.push_back(
      {.names = "--tables",
       .metavar = "",
       .help = "both inputs are tables, and so is the result: a row changes when one that it is "
               "made of does, and is deleted by a null payload when they cease",
       .set = Set(&tables_)});
  flags.push_back({.names = "--global",
                   .metavar = "",
                   .help = "the right input is a table that every task reads as a whole",
                   .set = Set(&global_)});
  flags.push_back({.names = "--fk",
                   .metavar = "EXPR",
                   .help = "with --tables: the key of the right row that a left one belongs to",
                   .set = SetExpression(&foreign_key_)});
  flags.push_back({.names = "--close-at-end",
                   .metavar = "",
                   .help = "with --exit-at-end and --app: records that wait for a partner at the "
                           "end come out then (without --app that is done anyway)",
                   .option = &options_.runtime});
  flags.push_back({.names = "--idle-advance",
                   .metavar = "DUR",
                   .help = "when all inputs have been at their ends for DUR, stream time goes on "
                           "with the clock, so that what waits for a partner comes out",
                   .option = &options_.runtime});
  flags.push_back({.names = "--store",
                   .metavar = "NAME",
                   .help = "the name of the state, under which it is found again (default join)",
                   .set = Set(&store_)});
  return group;
}

Result<JoinTool::Kind> JoinTool::KindOfJoin() const {
  if (table_ + tables_ + global_ > 1) {
    return Status::Usage("--table, --tables and --global contradict each other");
  }
  if (foreign_key_) return Kind::kForeignKey;
  if (global_) return Kind::kGlobal;
  if (tables_) return Kind::kTables;
  return table_ ? Kind::kTable : Kind::kStreams;
}

Status JoinTool::AddSources(const Places& places, StagePlan* plan) {
  if (left_.empty() || right_.empty()) {
    return Status::Usage(fmt::format("{} is missing: a join has two inputs, --left and --right",
                                     left_.empty() ? "--left" : "--right"));
  }
  if (left_ == "-" && right_ == "-") return Status::Usage("--left and --right are both stdin");
  KSTREAM_RETURN_IF_ERROR(AddSide(places, "left", left_, left_key_, plan));
  return AddSide(places, "right", right_, right_key_, plan);
}

Status JoinTool::AddSide(const Places& places, std::string_view name, const std::string& input,
                         const std::optional<Expression>& key, StagePlan* plan) {
  const std::string flag = fmt::format("--{}", name);
  KSTREAM_RETURN_IF_ERROR(AddSource(options_, places, std::string(name), {flag, {input}}, plan));
  auto& source = std::get<SourceSpec>(plan->nodes.back().spec);
  source.serdes = options_.runtime.serdes;
  if (key) source.key = key;
  return Status::Ok();
}

// Files are spread by the key that they are read with; so is a topic, unless that is another than
// its own, or the grouper takes its partitions apart.
bool JoinTool::Scattered(const SourceSpec& source) const {
  const std::string& grouper = options_.runtime.grouper;
  if (!ReadsTopics(source) || grouper == "single") return false;
  return source.key || grouper != "default";
}

std::string JoinTool::Gathered(const std::string& side, bool table, StagePlan* plan) const {
  const SerdeNames serdes = options_.runtime.serdes;
  auto& source = std::get<SourceSpec>(plan->nodes[side == "left" ? 0 : 1].spec);
  source.table = table;
  bool scattered = Scattered(source);
  std::string parent = side;
  if (table && source.key && source.key->text() != "$key" && HasKeys(source)) {
    scattered = scattered || (!ReadsTopics(source) && options_.runtime.partitions > 1);
    RekeySpec rekey{*source.key, fmt::format("{}-{}-keys", store_, side), serdes};
    source.key.reset();
    parent += "-rekey";
    plan->nodes.push_back({parent, {side}, std::move(rekey)});
  }
  if (!scattered) return parent;
  AddRepartition(parent, side + "-repartition", side + "-keyed", store_ + "-" + side, plan);
  std::get<SourceSpec>(plan->nodes.back().spec).table = table;
  return side + "-keyed";
}

Status JoinTool::SetWindows(StreamJoinSpec* spec) const {
  if (!within_ && !before_ && !after_) {
    return Status::Usage("--within is missing: how far from each other in time records may be");
  }
  if (prior_ && after_) {
    return Status::Usage("--after contradicts --prior: what is later is not joined");
  }
  if (latest_ && !prior_) return Status::Usage("--latest needs --prior");
  if (latest_ && type_ == JoinType::kOuter) {
    return Status::Usage("--latest chooses a right record for each left one: --type outer is none");
  }
  const std::chrono::milliseconds zero(0), within = within_.value_or(zero);
  spec->windows = {before_.value_or(within), after_.value_or(within), grace_.value_or(zero)};
  if (prior_) spec->windows.after = zero;
  spec->match = latest_ ? JoinMatch::kLatest : prior_ ? JoinMatch::kPrior : JoinMatch::kAll;
  if (spec->windows.before == zero && spec->windows.after == zero) {
    return Status::Usage("the window is empty: give --within, --before or --after a length");
  }
  return spec->windows.Check();
}

Result<StreamJoinSpec> JoinTool::StreamJoin(const StagePlan& plan) const {
  const RuntimeOptions& runtime = options_.runtime;
  StreamJoinSpec spec{.type = type_,
                      .value = value_,
                      .route = {.to = {}, .partition = options_.partition},
                      .left_serdes = runtime.serdes,
                      .right_serdes = runtime.serdes};
  KSTREAM_RETURN_IF_ERROR(SetWindows(&spec));
  KSTREAM_RETURN_IF_ERROR(CheckStoreName(store_));
  const bool topics = ReadsTopics(std::get<SourceSpec>(plan.nodes[0].spec)) ||
                      ReadsTopics(std::get<SourceSpec>(plan.nodes[1].spec));
  KSTREAM_RETURN_IF_ERROR(CheckCloseAtEnd(topics, runtime));
  const bool on_disk = runtime.store_type == StoreSpec::Engine::kRocksDb;
  if (on_disk || !runtime.app.empty()) spec.store = store_;
  if (!late_.empty()) {
    spec.rows = "out";
    spec.late = "late";
  }
  return spec;
}

Status JoinTool::CheckNoWindow(std::string_view kind) const {
  const std::string_view flag = within_                         ? "--within"
                                : before_                       ? "--before"
                                : after_                        ? "--after"
                                : grace_                        ? "--grace"
                                : prior_                        ? "--prior"
                                : latest_                       ? "--latest"
                                : !late_.empty()                ? "--late"
                                : options_.runtime.close_at_end ? "--close-at-end"
                                : options_.runtime.idle_advance ? "--idle-advance"
                                                                : "";
  if (flag.empty()) return Status::Ok();
  return Status::Usage(fmt::format(
      "{} contradicts {}: a row of a table is joined as long as it is there", flag, kind));
}

Status JoinTool::CheckKeys(const StagePlan& plan) const {
  for (const std::string_view side : {"left", "right"}) {
    const auto& source = std::get<SourceSpec>(plan.nodes[side == "left" ? 0 : 1].spec);
    if (source.key || HasKeys(source)) continue;
    return Status::Usage(
        fmt::format("--{}-key is missing: records of a file have no keys but those that it, or "
                    "--key, makes",
                    side));
  }
  return Status::Ok();
}

Result<TableJoin> JoinTool::JoinOfTables(Kind kind, const StagePlan& plan) const {
  const bool both = kind == Kind::kTables;
  KSTREAM_RETURN_IF_ERROR(CheckNoWindow(both ? "--tables" : "--table"));
  if (!both && type_ == JoinType::kOuter) {
    return Status::Usage(
        "--type outer contradicts --table: a row of the table does not come out alone, but with "
        "--tables");
  }
  KSTREAM_RETURN_IF_ERROR(CheckStoreName(store_));
  KSTREAM_RETURN_IF_ERROR(CheckKeys(plan));
  return TableJoin{.of = both ? TableJoin::Of::kTables : TableJoin::Of::kStreamWithTable,
                   .spec = {.type = type_,
                            .value = value_,
                            .store = store_,
                            .route = {.to = {}, .partition = options_.partition},
                            .left_serdes = options_.runtime.serdes,
                            .right_serdes = options_.runtime.serdes}};
}

Status JoinTool::AddNodes(const Places& places, StagePlan* plan) {
  KSTREAM_ASSIGN_OR_RETURN(const Kind kind, KindOfJoin());
  if (kind == Kind::kGlobal || kind == Kind::kForeignKey) {
    return Status::Usage(
        "this kstream joins by equal keys only: --global and --fk are not built yet");
  }
  PlanNode join{"join", {}, {}};
  if (kind == Kind::kStreams) {
    KSTREAM_ASSIGN_OR_RETURN(join.spec, StreamJoin(*plan));
  } else {
    KSTREAM_ASSIGN_OR_RETURN(join.spec, JoinOfTables(kind, *plan));
  }
  join.parents = {Gathered("left", kind == Kind::kTables, plan),
                  Gathered("right", kind != Kind::kStreams, plan)};
  plan->nodes.push_back(std::move(join));
  return AddRowSinks(options_, places, late_, "join", plan);
}

}  // namespace kstream::tools
