// Aggregates. The fields carry the names of kstream-agg's flags; the order in which results are
// printed is that of the functions in the file, or what "order" says.
#include <fmt/format.h>

#include <algorithm>

#include "kstream/operators.h"
#include "kstream/units.h"
#include "topology_file/node.h"

namespace kstream::topology_file {
namespace {

using Emit = AggregateSpec::Emit;
using Function = AggregateFunction;

constexpr Function::Kind kFunctions[] = {
    Function::Kind::kCount,    Function::Kind::kSum,     Function::Kind::kMin,
    Function::Kind::kMax,      Function::Kind::kAvg,     Function::Kind::kFirst,
    Function::Kind::kLast,     Function::Kind::kCollect, Function::Kind::kCollectSet,
    Function::Kind::kDistinct,
};

// The function's field, as the flag is called.
std::string FieldOf(Function::Kind kind) {
  std::string name(ToString(kind));
  std::ranges::replace(name, '_', '-');
  return name;
}

// A field's value as the one that a setter of units takes.
template <typename Parsed, typename Parse>
Status TakeParsed(Fields* fields, std::string_view name, Parse parse, Parsed* parsed) {
  const std::optional<FileValue> value = fields->Take(name);
  if (!value) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, value->Text());
  auto result = parse(text);
  if (!result.ok()) return value->Error(fmt::format("'{}': {}", name, result.status().message()));
  *parsed = *std::move(result);
  return Status::Ok();
}

Status AddFunction(Node* node, Function::Kind kind, std::string name,
                   const std::optional<FileValue>& argument, AggregateSpec* spec) {
  Function function{.kind = kind, .argument = {}, .name = std::move(name)};
  if (argument) {
    KSTREAM_ASSIGN_OR_RETURN(
        function.argument,
        node->Compile(fmt::format("{} {}", FieldOf(kind), NameOf(function)), *argument));
  }
  spec->functions.push_back(std::move(function));
  return Status::Ok();
}

// "count": true, "NAME" or {"NAME": EXPR or null, ..}; "sum" and its kin: EXPR in a string or
// {"NAME": EXPR, ..}.
Status TakeFunction(Node* node, Function::Kind kind, FileValue value, AggregateSpec* spec) {
  const bool counts = kind == Function::Kind::kCount;
  if (value.is_object()) {
    KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members, value.Members(""));
    for (const FileValue::Member& member : members) {
      std::optional<FileValue> argument = member.value;
      if (counts && member.value.is_null()) argument.reset();
      KSTREAM_RETURN_IF_ERROR(AddFunction(node, kind, member.name, argument, spec));
    }
    return Status::Ok();
  }
  if (!counts) return AddFunction(node, kind, "", value, spec);
  if (value.type() == json::Type::kTrue) return AddFunction(node, kind, "", std::nullopt, spec);
  KSTREAM_ASSIGN_OR_RETURN(std::string name, value.Text());
  return AddFunction(node, kind, std::move(name), std::nullopt, spec);
}

// In the order of the file.
Status TakeFunctions(Node* node, Fields* fields, AggregateSpec* spec) {
  for (const Function::Kind kind : kFunctions) fields->Take(FieldOf(kind));
  for (const FileValue::Member& member : fields->members()) {
    const auto kind = std::ranges::find(kFunctions, member.name, FieldOf);
    if (kind == std::end(kFunctions)) continue;
    KSTREAM_RETURN_IF_ERROR(TakeFunction(node, *kind, member.value, spec));
  }
  return Status::Ok();
}

// "order": the names of all results, as they are to be printed.
Status TakeOrder(Fields* fields, AggregateSpec* spec) {
  const std::optional<FileValue> value = fields->Take("order");
  if (!value) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue> items, value->Items("an array of names"));
  std::vector<Function> ordered;
  for (const FileValue& item : items) {
    KSTREAM_ASSIGN_OR_RETURN(const std::string name, item.Text());
    const auto found = std::ranges::find(spec->functions, name, NameOf);
    if (found == spec->functions.end()) {
      return item.Error(fmt::format("'{}' is none of the results, or stands here twice", name));
    }
    ordered.push_back(std::move(*found));
    spec->functions.erase(found);
  }
  if (!spec->functions.empty()) {
    return value->Error(fmt::format("'{}' is missing: all results are in the order, or none",
                                    NameOf(spec->functions.front())));
  }
  spec->functions = std::move(ordered);
  return Status::Ok();
}

Status TakeFold(Node* node, Fields* fields, AggregateSpec* spec) {
  const std::optional<FileValue> init = fields->Take("init");
  const std::optional<FileValue> add = fields->Take("add");
  const std::optional<FileValue> as = fields->Take("as");
  const std::optional<FileValue> sub = fields->Take("sub");
  if (!init && !add && sub) return sub->Error("'sub' undoes a fold: give 'init' and 'add'");
  if (!init && !add) {
    return as ? as->Error("'as' names a fold: give 'init' and 'add'") : Status::Ok();
  }
  if (!init) return add->Error("'add' needs 'init': the first $acc of a group");
  if (!add) return init->Error("'init' needs 'add': what each record does to $acc");
  KSTREAM_ASSIGN_OR_RETURN(Expression first, node->Compile("init", *init));
  KSTREAM_ASSIGN_OR_RETURN(Expression next, node->Compile("add", *add, {"acc"}));
  spec->fold = FoldSpec{.init = std::move(first), .add = std::move(next)};
  if (sub) {
    KSTREAM_ASSIGN_OR_RETURN(spec->fold->sub, node->Compile("sub", *sub, {"acc"}));
  }
  KSTREAM_ASSIGN_OR_RETURN(spec->fold->name, fields->TakeText("as", spec->fold->name));
  return Status::Ok();
}

Status TakeWindow(Fields* fields, AggregateSpec* spec) {
  const std::optional<FileValue> window = fields->Take("window");
  WindowSpec parsed;
  KSTREAM_RETURN_IF_ERROR(TakeParsed(fields, "window", WindowSpec::Parse, &parsed));
  for (const std::string_view name : {"grace", "retention", "timezone", "late"}) {
    const std::optional<FileValue> value = fields->Take(name);
    if (value && !window) {
      return value->Error(fmt::format("'{}' is for windows: give a 'window'", name));
    }
  }
  if (!window) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(TakeParsed(fields, "grace", ParseDuration, &parsed.grace));
  KSTREAM_RETURN_IF_ERROR(TakeParsed(fields, "retention", ParseDuration, &parsed.retention));
  KSTREAM_ASSIGN_OR_RETURN(parsed.zone, fields->TakeText("timezone"));
  if (const Status status = parsed.Check(); !status.ok()) return window->Error(status.message());
  spec->window = parsed;
  return Status::Ok();
}

Status TakeTtl(Fields* fields, AggregateSpec* spec) {
  const std::optional<FileValue> value = fields->Take("ttl");
  if (!value) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(TakeParsed(fields, "ttl", ParseDuration, &spec->ttl));
  if (spec->ttl.count() <= 0) return value->Error("'ttl' must be longer than 0");
  if (spec->table) {
    return value->Error(
        "'ttl' contradicts 'table': rows of a table are there until it deletes them");
  }
  if (!spec->window) return Status::Ok();
  return value->Error("'ttl' is for rows without windows: 'retention' keeps those of windows");
}

Status ParseEmit(std::string_view text, AggregateSpec* spec) {
  constexpr std::string_view kEvery = "every:";
  if (text == "final") {
    spec->emit = Emit::kFinal;
  } else if (text == "update") {
    spec->emit = Emit::kUpdate;
  } else if (text == "change") {
    spec->emit = Emit::kChange;
  } else if (text.starts_with(kEvery)) {
    spec->emit = Emit::kEvery;
    KSTREAM_ASSIGN_OR_RETURN(spec->every, ParseDuration(text.substr(kEvery.size())));
    if (spec->every.count() <= 0)
      return Status::Usage(fmt::format("{} is not longer than 0", text));
  } else {
    return Status::Usage(
        fmt::format("'{}' is none of final, update, change, every:DURATION", text));
  }
  return Status::Ok();
}

// What kstream-agg does where --emit is not given: rows of windows when they close; else each
// change of a table that is kept, or all rows at the end.
Status TakeEmit(const Assembly& assembly, Fields* fields, AggregateSpec* spec) {
  const bool kept = assembly.topics && !assembly.options.app.empty();
  const std::optional<FileValue> value = fields->Take("emit");
  spec->emit = kept && !spec->window ? Emit::kUpdate : Emit::kFinal;
  if (!value) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, value->Text());
  if (const Status status = ParseEmit(text, spec); !status.ok()) {
    return value->Error(status.message());
  }
  if (!kept || spec->window || spec->emit != Emit::kFinal) return Status::Ok();
  return value->Error(
      "without a window nothing is final before the input ends, and that of an application goes "
      "on: use update, change or every:DUR");
}

// The rows of a table, which is what the records are, and their groups.
Result<GroupedStream> GroupRows(Node* node, Fields* fields, const std::string& store) {
  const auto& [stream, scattered] = node->parent();
  const std::string rows = store + "-rows";
  const Stream keyed = scattered ? stream.Repartition(rows) : stream;
  const std::optional<FileValue> value = fields->Take("by");
  if (!value) return keyed.GroupRows("$key", rows).changes();
  KSTREAM_ASSIGN_OR_RETURN(Expression by, node->Compile("by", *value));
  const bool together = by.text() == "$key" || node->assembly().one_task;
  return keyed.GroupRows(std::move(by), rows, together ? "" : store).changes();
}

// The groups, each in one task.
Result<GroupedStream> Group(Node* node, Fields* fields, const std::string& store,
                            AggregateSpec* spec) {
  const auto& [stream, scattered] = node->parent();
  KSTREAM_ASSIGN_OR_RETURN(spec->table, TakeTable(fields, "table"));
  if (spec->table) return GroupRows(node, fields, store);
  if (const std::optional<FileValue> by = fields->Take("by")) {
    KSTREAM_ASSIGN_OR_RETURN(spec->by, node->Compile("by", *by));
    const bool by_key = spec->by->text() == "$key";
    if (!by_key && !node->assembly().one_task) return stream.GroupBy(*spec->by, store);
  }
  return scattered ? stream.Repartition(store).GroupByKey(store) : stream.GroupByKey(store);
}

}  // namespace

Result<std::vector<NameInFile>> LateOutput(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(node->value(), "it"));
  const std::optional<FileValue> late = fields.Take("late");
  if (!late) return std::vector<NameInFile>();
  KSTREAM_ASSIGN_OR_RETURN(std::string name, late->Text());
  return std::vector<NameInFile>{{std::move(name), *late}};
}

Status MakeAggregate(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(
      Fields fields, Fields::Of(node->value(), fmt::format("the aggregate of '{}'", node->name())));
  AggregateSpec spec;
  KSTREAM_ASSIGN_OR_RETURN(const std::string store, node->TakeStore());
  KSTREAM_ASSIGN_OR_RETURN(const GroupedStream groups, Group(node, &fields, store, &spec));
  KSTREAM_RETURN_IF_ERROR(TakeFunctions(node, &fields, &spec));
  KSTREAM_RETURN_IF_ERROR(TakeOrder(&fields, &spec));
  KSTREAM_RETURN_IF_ERROR(TakeFold(node, &fields, &spec));
  KSTREAM_RETURN_IF_ERROR(TakeWindow(&fields, &spec));
  KSTREAM_RETURN_IF_ERROR(TakeTtl(&fields, &spec));
  KSTREAM_RETURN_IF_ERROR(TakeEmit(node->assembly(), &fields, &spec));
  if (spec.emit == Emit::kEvery) node->ShowWallClock();
  // A session is as long as its records make it: at least two are seen together.
  if (spec.window) node->ShowReach(spec.window->size + spec.window->gap + spec.window->grace);
  const std::optional<FileValue> late = fields.Take("late");
  KSTREAM_RETURN_IF_ERROR(fields.Finish());
  if (const Status status = Aggregate(spec).status(); !status.ok()) {
    return node->value().Error(status.message());
  }
  if (!late) {
    // Rows of windows have more in their keys than the group.
    const bool windowed = spec.window.has_value();
    Table rows = groups.Aggregate(std::move(spec), store);
    if (windowed) {
      node->Give(rows.ToStream(), false);
    } else {
      node->GiveTable(std::move(rows));
    }
    return Status::Ok();
  }
  KSTREAM_ASSIGN_OR_RETURN(spec.late, late->Text());
  spec.rows = node->name() + "-rows";
  const std::string rows_name = spec.rows, late_name = spec.late;
  const Stream rows = groups.Aggregate(std::move(spec), store).ToStream();
  node->Give(rows.As(rows_name), false);
  node->GiveAs(late_name, rows.As(late_name, node->parent().stream.serdes()), false);
  return Status::Ok();
}

}  // namespace kstream::topology_file
