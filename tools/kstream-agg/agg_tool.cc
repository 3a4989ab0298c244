#include "kstream-agg/agg_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "kstream/log.h"
#include "kstream/units.h"

namespace kstream::tools {
namespace {

using Emit = AggregateSpec::Emit;
using Kind = AggregateFunction::Kind;

bool IsName(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

// Splits NAME=EXPR; without a name all of it is EXPR. No expression begins with a word and one `=`.
std::pair<std::string, std::string_view> SplitName(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || !IsName(text.substr(0, equals)) ||
      text.substr(equals + 1).starts_with('=')) {
    return {"", text};
  }
  return {std::string(text.substr(0, equals)), text.substr(equals + 1)};
}

Setter AddFunction(std::vector<AggregateFunction>* functions, Kind kind) {
  return [functions, kind](std::string_view text) {
    const auto [name, expression] = SplitName(text);
    std::optional<Expression> argument;
    KSTREAM_RETURN_IF_ERROR(SetExpression(&argument)(expression));
    functions->push_back({.kind = kind, .argument = std::move(argument), .name = name});
    return Status::Ok();
  };
}

// --count, --count=NAME, --count=NAME=EXPR.
Setter AddCount(std::vector<AggregateFunction>* functions) {
  return [functions](std::string_view text) {
    if (text == "true") {
      functions->push_back({});
      return Status::Ok();
    }
    if (IsName(text)) {
      functions->push_back({.name = std::string(text)});
      return Status::Ok();
    }
    if (SplitName(text).first.empty()) {
      return Status::Usage(fmt::format("'{}' is neither NAME nor NAME=EXPR", text));
    }
    return AddFunction(functions, Kind::kCount)(text);
  };
}

Setter ChooseEmit(std::optional<Emit>* emit, std::chrono::milliseconds* every) {
  return [emit, every](std::string_view text) {
    constexpr std::string_view kEvery = "every:";
    if (text == "final") {
      *emit = Emit::kFinal;
    } else if (text == "update") {
      *emit = Emit::kUpdate;
    } else if (text == "change") {
      *emit = Emit::kChange;
    } else if (text.starts_with(kEvery)) {
      KSTREAM_ASSIGN_OR_RETURN(*every, ParseDuration(text.substr(kEvery.size())));
      if (every->count() <= 0) return Status::Usage(fmt::format("{} is not longer than 0", text));
      *emit = Emit::kEvery;
    } else {
      return Status::Usage(
          fmt::format("'{}' is none of final, update, change, every:DURATION", text));
    }
    return Status::Ok();
  };
}

Flag FunctionFlag(std::string_view names, std::string_view help, Kind kind,
                  std::vector<AggregateFunction>* functions) {
  return {
      .names = names, .metavar = "[NAME=]EXPR", .help = help, .set = AddFunction(functions, kind)};
}

}  // namespace

FlagGroup AggTool::OwnFlags() {
  FlagGroup group{
      "Aggregate (names default to the function's; an argument that is null is ignored)", {}};
  std::vector<Flag>& flags = group.flags;
  flags.push_back({.names = "--by",
                   .metavar = "EXPR",
                   .help = "the group of a record (default: its key); null means none, and the "
                           "record is left out, as is one without a value",
                   .set = SetExpression(&by_)});
  flags.push_back({.names = "--count",
                   .metavar = "NAME[=EXPR]",
                   .help = "how many records; with EXPR, in how many of them it is not null",
                   .optional_value = true,
                   .set = AddCount(&functions_)});
  const auto add = [&](std::string_view names, std::string_view help, Kind kind) {
    flags.push_back(FunctionFlag(names, help, kind, &functions_));
  };
  add("--sum", "sum of numbers: integers are exact, and one that overflows is a bad record",
      Kind::kSum);
  add("--min", "the smallest number, or string", Kind::kMin);
  add("--max", "the largest number, or string", Kind::kMax);
  add("--avg", "average of numbers", Kind::kAvg);
  add("--first", "the value that came first", Kind::kFirst);
  add("--last", "the value that came last", Kind::kLast);
  add("--collect", "all values as an array, nulls too", Kind::kCollect);
  add("--collect-set", "an array of the different values", Kind::kCollectSet);
  add("--distinct", "how many different values", Kind::kDistinct);
  flags.push_back({.names = "--init",
                   .metavar = "EXPR",
                   .help = "the first $acc of a fold, made of a group's first record",
                   .set = SetExpression(&init_)});
  flags.push_back({.names = "--add",
                   .metavar = "EXPR",
                   .help = "the next $acc of a fold, made of $acc and each record",
                   .set = SetExpression(&add_, {"acc"})});
  flags.push_back(
      {.names = "--sub",
       .metavar = "EXPR",
       .help = "with --table: what undoes --add for a row that was, made of $acc and it",
       .set = SetExpression(&sub_, {"acc"})});
  flags.push_back({.names = "--as",
                   .metavar = "NAME",
                   .help = "the name of the fold's result (default value)",
                   .set = Set(&as_)});
  flags.push_back({.names = "--table",
                   .metavar = "",
                   .help =
                       "the input is a table: a record replaces the row of its key, one without "
                       "a value deletes it, and rows count as they are now",
                   .set = Set(&table_)});
  flags.push_back({.names = "--window",
                   .metavar = "WINDOW",
                   .help = "a row for each group and window: tumbling:DUR, hopping:SIZE/HOP, "
                           "sliding:DUR or session:GAP, by the times of records",
                   .set = [this](std::string_view text) {
                     KSTREAM_ASSIGN_OR_RETURN(window_, WindowSpec::Parse(text));
                     return Status::Ok();
                   }});
  flags.push_back({.names = "--grace",
                   .metavar = "DUR",
                   .help = "how long past its end a window waits for records that are out of order "
                           "(default 0s)",
                   .set = SetDuration(&grace_)});
  flags.push_back({.names = "--timezone",
                   .metavar = "ZONE",
                   .help = "windows of whole days are those of ZONE, such as Europe/Berlin "
                           "(default UTC)",
                   .set = Set(&zone_)});
  flags.push_back({.names = "--late",
                   .metavar = "DST",
                   .help = "write records that are too late for their windows to DST, as they came",
                   .takes_file = true,
                   .set = Set(&late_)});
  flags.push_back({.names = "--retention",
                   .metavar = "DUR",
                   .help = "how long past its end the rows of a window stay in the store (default: "
                           "as long as it waits)",
                   .set = SetDuration(&retention_)});
  flags.push_back({.names = "--ttl",
                   .metavar = "DUR",
                   .help = "without --window: a row that no record has changed for DUR of stream "
                           "time is deleted, with a tombstone in update, change and every",
                   .set = SetDuration(&ttl_)});
  flags.push_back({.names = "--close-at-end",
                   .metavar = "",
                   .help =
                       "with --exit-at-end and --app: close the windows that are open at the end, "
                       "for good (without --app that is done anyway)",
                   .option = &options_.runtime});
  flags.push_back({.names = "--idle-advance",
                   .metavar = "DUR",
                   .help =
                       "when all inputs have been at their ends for DUR, stream time goes on with "
                       "the clock, so that the last windows close",
                   .option = &options_.runtime});
  flags.push_back({.names = "--emit",
                   .metavar = "final|update|change|every:DUR",
                   .help = "when rows are written: final, those of a window when it closes (the "
                           "default with --window), or all at the end of input (default where no "
                           "state is kept); update, at each commit those that changed (default on "
                           "topics with --app); change, each change; every:DUR, those that "
                           "changed, by the wall clock",
                   .set = ChooseEmit(&emit_, &every_)});
  flags.push_back({.names = "--store",
                   .metavar = "NAME",
                   .help = "the name of the state, under which it is found again (default agg)",
                   .set = Set(&store_)});
  return group;
}

Status AggTool::SetFold(AggregateSpec* spec) const {
  if (init_.has_value() != add_.has_value()) {
    return Status::Usage(init_ ? "--init needs --add: what each record does to $acc"
                               : "--add needs --init: the first $acc of a group");
  }
  if (!as_.empty() && !init_) return Status::Usage("--as names a fold: give --init and --add");
  if (sub_ && !table_) {
    return Status::Usage("--sub undoes rows of a table: give --table, or leave it out");
  }
  if (sub_ && !init_) return Status::Usage("--sub undoes a fold: give --init and --add");
  if (!init_) return Status::Ok();
  spec->fold = FoldSpec{.init = *init_, .add = *add_, .sub = sub_};
  if (!as_.empty()) spec->fold->name = as_;
  return Status::Ok();
}

Status AggTool::SetWindow(bool topics, AggregateSpec* spec) const {
  const RuntimeOptions& runtime = options_.runtime;
  if (ttl_ && window_) {
    return Status::Usage("--ttl is for rows without windows: --retention keeps those of windows");
  }
  if (ttl_ && table_) {
    return Status::Usage(
        "--ttl contradicts --table: rows of a table are there until it deletes them");
  }
  if (ttl_ && ttl_->count() <= 0) return Status::Usage("--ttl must be longer than 0");
  spec->ttl = ttl_.value_or(std::chrono::milliseconds(0));
  if (!window_) {
    const std::string_view flag = grace_                          ? "--grace"
                                  : retention_                    ? "--retention"
                                  : !zone_.empty()                ? "--timezone"
                                  : !late_.empty()                ? "--late"
                                  : runtime.close_at_end          ? "--close-at-end"
                                  : runtime.idle_advance && !ttl_ ? "--idle-advance"
                                                                  : "";
    if (flag.empty()) return Status::Ok();
    return Status::Usage(fmt::format("{} is for windows: give a --window", flag));
  }
  KSTREAM_RETURN_IF_ERROR(CheckCloseAtEnd(topics, runtime));
  if (table_) {
    return Status::Usage("--window contradicts --table: rows of a table are what is now");
  }
  spec->window = *window_;
  spec->window->grace = grace_.value_or(std::chrono::milliseconds(0));
  spec->window->retention = retention_.value_or(std::chrono::milliseconds(0));
  spec->window->zone = zone_;
  if (!late_.empty()) {
    spec->rows = "out";
    spec->late = "late";
  }
  return Status::Ok();
}

Status AggTool::SetEmit(bool topics, AggregateSpec* spec) const {
  const bool kept = topics && !options_.runtime.app.empty();
  spec->emit = emit_.value_or(kept && !window_ ? Emit::kUpdate : Emit::kFinal);
  spec->every = every_;
  if (kept && window_ && !emit_ && options_.explain.empty() && !options_.print_spec) {
    Log(LogLevel::kInfo, "rows come when windows close: --emit update shows them before that");
  }
  if (!kept || window_ || spec->emit != Emit::kFinal) return Status::Ok();
  return Status::Usage(
      "--emit final with --app: without a window nothing is final before the input ends, and that "
      "of an application goes on: use update, change or every:DUR");
}

std::string AggTool::AddGrouping(const SourceSpec& source, AggregateSpec* spec,
                                 StagePlan* plan) const {
  std::string parent = "in";
  GroupBySpec group{.by = by_ ? *by_ : *Expression::Compile("$key"), .serdes = spec->serdes};
  if (table_) {
    group.table = store_ + "-rows";
    if (KeysScattered(source, options_.runtime)) {
      AddRepartition(parent, "rekey", "rows", group.table, plan);
      parent = "rows";
    }
  }
  const bool by_key = group.by.text() == "$key";
  const bool scattered = !(table_ && by_key) && GroupsScattered(source, options_.runtime, by_key);
  if (!scattered && !table_) return parent;
  spec->by.reset();
  plan->nodes.push_back({"group", {parent}, std::move(group)});
  parent = "group";
  if (!scattered) return parent;
  AddRepartition(parent, "repartition", "grouped", store_, plan);
  return "grouped";
}

// Said once, since no result shows it.
void AggTool::NoteReplays(const SourceSpec& source) const {
  const RuntimeOptions& runtime = options_.runtime;
  if (!table_ || !ReadsTopics(source) || runtime.app.empty() || !options_.explain.empty() ||
      options_.print_spec || runtime.guarantee == Guarantee::kExactlyOnce) {
    return;
  }
  Log(LogLevel::kInfo,
      "--table at least once: after a crash a row may be taken out of its group twice: --eos rules "
      "that out");
}

Status AggTool::AddNodes(const Places& places, StagePlan* plan) {
  const SourceSpec source = std::get<SourceSpec>(plan->nodes.front().spec);
  AggregateSpec spec{.functions = functions_,
                     .by = by_,
                     .route = {.to = {}, .partition = options_.partition},
                     .serdes = options_.runtime.serdes};
  KSTREAM_RETURN_IF_ERROR(CheckStoreName(store_));
  KSTREAM_RETURN_IF_ERROR(SetFold(&spec));
  KSTREAM_RETURN_IF_ERROR(SetWindow(ReadsTopics(source), &spec));
  KSTREAM_RETURN_IF_ERROR(SetEmit(ReadsTopics(source), &spec));
  // Without an application nothing is kept, and rows need a store only to be more than fit in
  // memory.
  const bool on_disk = options_.runtime.store_type == StoreSpec::Engine::kRocksDb;
  if (on_disk || !options_.runtime.app.empty()) spec.store = store_;
  spec.table = table_;
  const std::string parent = AddGrouping(source, &spec, plan);
  KSTREAM_RETURN_IF_ERROR(Aggregate(spec).status());
  plan->nodes.push_back({"agg", {parent}, std::move(spec)});
  NoteReplays(source);
  return AddRowSinks(options_, places, late_, "agg", plan);
}

}  // namespace kstream::tools
