// Joins. The fields carry the names of kstream-join's flags; whether it is one of streams, of a
// stream with a table or of two tables, the nodes say that it brings together.
#include <fmt/format.h>

#include <array>

#include "kstream/joins.h"
#include "topology_file/node.h"

namespace kstream::topology_file {
namespace {

using std::chrono::milliseconds;

Result<bool> TakeSwitch(Fields* fields, std::string_view name) {
  const std::optional<FileValue> value = fields->Take(name);
  if (!value || value->type() == json::Type::kFalse) return false;
  if (value->type() == json::Type::kTrue) return true;
  return value->Error(fmt::format("'{}' takes true or false", name));
}

// What all kinds have.
template <typename Spec>
Status TakeTypeAndValue(Node* node, Fields* fields, Spec* spec) {
  fields->Take("left");
  fields->Take("right");
  KSTREAM_ASSIGN_OR_RETURN(const std::string type,
                           fields->TakeChoice("type", {"inner", "left", "outer"}, "inner"));
  spec->type = type == "left"    ? JoinType::kLeft
               : type == "outer" ? JoinType::kOuter
                                 : JoinType::kInner;
  if (const std::optional<FileValue> value = fields->Take("value")) {
    KSTREAM_ASSIGN_OR_RETURN(spec->value, node->Compile("value", *value, {"left", "right"}));
  }
  spec->name = node->name();
  return Status::Ok();
}

Status TakeMatch(Fields* fields, StreamJoinSpec* spec) {
  KSTREAM_ASSIGN_OR_RETURN(const bool prior, TakeSwitch(fields, "prior"));
  KSTREAM_ASSIGN_OR_RETURN(const bool latest, TakeSwitch(fields, "latest"));
  if (latest && !prior) return fields->Take("latest")->Error("'latest' needs 'prior'");
  if (latest) {
    spec->match = JoinMatch::kLatest;
  } else if (prior) {
    spec->match = JoinMatch::kPrior;
  }
  return Status::Ok();
}

Status TakeWindows(Fields* fields, StreamJoinSpec* spec) {
  KSTREAM_ASSIGN_OR_RETURN(const auto within, TakeDuration(fields, "within"));
  KSTREAM_ASSIGN_OR_RETURN(const auto before, TakeDuration(fields, "before"));
  KSTREAM_ASSIGN_OR_RETURN(const auto after, TakeDuration(fields, "after"));
  KSTREAM_ASSIGN_OR_RETURN(const auto grace, TakeDuration(fields, "grace"));
  if (after && spec->match != JoinMatch::kAll) {
    return fields->Take("after")->Error("'after' contradicts 'prior': what is later is not joined");
  }
  const milliseconds zero(0), both = within.value_or(zero);
  spec->windows = {before.value_or(both), after.value_or(both), grace.value_or(zero)};
  if (spec->match != JoinMatch::kAll) spec->windows.after = zero;
  if (spec->windows.before == zero && spec->windows.after == zero) {
    return fields->object().Error(
        "the window is empty: give 'within', 'before' or 'after' a length");
  }
  return Status::Ok();
}

// A side of the join, by the key that the join goes by.
Result<Stream> Side(Node* node, Fields* fields, const std::string& store, size_t parent,
                    std::string_view which) {
  auto [stream, scattered] = node->parent(parent);
  const std::string key_field = fmt::format("{}-key", which);
  if (const std::optional<FileValue> value = fields->Take(key_field)) {
    KSTREAM_ASSIGN_OR_RETURN(Expression key, node->Compile(key_field, *value));
    return stream.SelectKey(std::move(key), fmt::format("{}-{}", node->name(), key_field));
  }
  return scattered ? stream.Repartition(fmt::format("{}-{}", store, which)) : stream;
}

Result<Fields> FieldsOf(Node* node) {
  return Fields::Of(node->value(), fmt::format("the join of '{}'", node->name()));
}

Status MakeStreamJoin(Node* node, Fields* fields) {
  StreamJoinSpec spec;
  KSTREAM_RETURN_IF_ERROR(TakeTypeAndValue(node, fields, &spec));
  KSTREAM_RETURN_IF_ERROR(TakeMatch(fields, &spec));
  KSTREAM_RETURN_IF_ERROR(TakeWindows(fields, &spec));
  node->ShowReach(spec.windows.before + spec.windows.after + spec.windows.grace);
  KSTREAM_ASSIGN_OR_RETURN(spec.store, node->TakeStore());
  KSTREAM_ASSIGN_OR_RETURN(const Stream left, Side(node, fields, spec.store, 0, "left"));
  KSTREAM_ASSIGN_OR_RETURN(const Stream right, Side(node, fields, spec.store, 1, "right"));
  const std::optional<FileValue> late = fields->Take("late");
  KSTREAM_RETURN_IF_ERROR(fields->Finish());
  if (late) {
    KSTREAM_ASSIGN_OR_RETURN(spec.late, late->Text());
    spec.rows = node->name() + "-rows";
  }
  if (const Status status = JoinStreams(spec).status(); !status.ok()) {
    return node->value().Error(status.message());
  }
  const std::string rows_name = spec.rows, late_name = spec.late;
  const Stream joined = left.Join(right, std::move(spec));
  if (!late) {
    node->Give(joined, false);
    return Status::Ok();
  }
  node->Give(joined.As(rows_name), false);
  node->GiveAs(late_name, joined.As(late_name, left.serdes()), false);
  return Status::Ok();
}

// Rows of a table are where its source has them: no more can be done to bring records to them than
// to send these by key.
Status CheckGrouper(const Fields& fields, const RuntimeOptions& options) {
  if (options.grouper == "default" || options.grouper == "single" || options.custom_grouper ||
      options.grouper.starts_with("broadcast:")) {
    return Status::Ok();
  }
  return fields.object().Error(fmt::format(
      "a join with a table needs rows and records of one key in one task, and --grouper "
      "{} keeps them apart: leave it at default",
      options.grouper));
}

Status MakeStreamTableJoin(Node* node, Fields* fields, const Table& table) {
  TableJoinSpec spec;
  KSTREAM_RETURN_IF_ERROR(TakeTypeAndValue(node, fields, &spec));
  spec.store = node->name();
  if (!table.keeps_rows()) {
    KSTREAM_ASSIGN_OR_RETURN(spec.store, node->TakeStore());
  }
  KSTREAM_ASSIGN_OR_RETURN(const Stream left, Side(node, fields, spec.store, 0, "left"));
  KSTREAM_RETURN_IF_ERROR(fields->Finish());
  if (const Status status = JoinTable(spec).status(); !status.ok()) {
    return node->value().Error(status.message());
  }
  node->Give(left.Join(table, std::move(spec)), false);
  return Status::Ok();
}

Status MakeTablesJoin(Node* node, Fields* fields, const Table& left, const Table& right) {
  TableJoinSpec spec;
  KSTREAM_RETURN_IF_ERROR(TakeTypeAndValue(node, fields, &spec));
  KSTREAM_ASSIGN_OR_RETURN(spec.store, node->TakeStore());
  KSTREAM_RETURN_IF_ERROR(fields->Finish());
  if (const Status status = JoinTables(spec).status(); !status.ok()) {
    return node->value().Error(status.message());
  }
  node->GiveTable(left.Join(right, std::move(spec)));
  return Status::Ok();
}

}  // namespace

Result<std::vector<NameInFile>> JoinedParents(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, FieldsOf(node));
  std::vector<NameInFile> parents;
  for (const std::string_view side : std::array{"left", "right"}) {
    KSTREAM_ASSIGN_OR_RETURN(const FileValue value, fields.Need(side));
    KSTREAM_ASSIGN_OR_RETURN(std::string name, value.Text());
    parents.push_back({std::move(name), value});
  }
  return parents;
}

Status MakeJoin(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, FieldsOf(node));
  const Table *const left = node->table(0), *const right = node->table(1);
  if (right == nullptr) return MakeStreamJoin(node, &fields);
  KSTREAM_RETURN_IF_ERROR(CheckGrouper(fields, node->assembly().options));
  return left != nullptr ? MakeTablesJoin(node, &fields, *left, *right)
                         : MakeStreamTableJoin(node, &fields, *right);
}

}  // namespace kstream::topology_file
