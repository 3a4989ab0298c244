// What repeats is left out. The fields carry the names of kstream-filter's flags; "rest" is the
// name that the repeats take.
#include <fmt/format.h>

#include "kstream/operators.h"
#include "topology_file/node.h"

namespace kstream::topology_file {

Result<std::vector<NameInFile>> UniqueRest(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(node->value(), "'unique'"));
  const std::optional<FileValue> rest = fields.Take("rest");
  if (!rest) return std::vector<NameInFile>();
  KSTREAM_ASSIGN_OR_RETURN(std::string name, rest->Text());
  return std::vector<NameInFile>{{std::move(name), *rest}};
}

Status MakeUnique(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(
      Fields fields, Fields::Of(node->value(), fmt::format("the unique of '{}'", node->name())));
  DistinctSpec spec;
  KSTREAM_ASSIGN_OR_RETURN(spec.store, node->TakeStore());
  KSTREAM_ASSIGN_OR_RETURN(const FileValue by, fields.Need("by"));
  KSTREAM_ASSIGN_OR_RETURN(spec.by, node->Compile("unique-by", by));
  KSTREAM_ASSIGN_OR_RETURN(const FileValue within, fields.Need("within"));
  KSTREAM_ASSIGN_OR_RETURN(const auto length, TakeDuration(&fields, "within"));
  spec.within = *length;
  KSTREAM_ASSIGN_OR_RETURN(spec.grace, TakeDuration(&fields, "grace"));
  KSTREAM_ASSIGN_OR_RETURN(spec.rest, fields.TakeText("rest"));
  KSTREAM_RETURN_IF_ERROR(fields.Finish());
  const std::string kept_name = node->name() + "-kept", rest_name = spec.rest;
  if (!rest_name.empty()) spec.kept = kept_name;
  if (const Status status = Distinct(spec).status(); !status.ok()) {
    return within.Error(status.message());
  }
  const auto& [stream, scattered] = node->parent();
  const bool gather = scattered && spec.by->text() == "$key" && !stream.rekeyed();
  const Stream parent = gather ? stream.Repartition(spec.store) : stream;
  const Stream kept = parent.Distinct(std::move(spec), node->name());
  if (rest_name.empty()) {
    node->Give(kept, false);
    return Status::Ok();
  }
  node->Give(kept.As(kept_name), false);
  node->GiveAs(rest_name, kept.As(rest_name), false);
  return Status::Ok();
}

}  // namespace kstream::topology_file
