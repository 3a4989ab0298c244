#include "topology_file/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kstream/nearest.h"
#include "kstream/units.h"

namespace kstream::topology_file {

std::string DidYouMean(std::string_view name, const std::vector<std::string_view>& names) {
  const std::string_view nearest = NearestName(name, names);
  return nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest);
}

Result<Fields> Fields::Of(FileValue object, std::string owner) {
  KSTREAM_ASSIGN_OR_RETURN(std::vector<FileValue::Member> members,
                           object.Members("an object of fields"));
  return Fields(object, std::move(owner), std::move(members));
}

std::optional<FileValue> Fields::Take(std::string_view name) {
  asked_.emplace(name);
  const auto found = std::ranges::find(members_, name, &FileValue::Member::name);
  if (found == members_.end()) return std::nullopt;
  return found->value;
}

Result<FileValue> Fields::Need(std::string_view name) {
  if (const std::optional<FileValue> value = Take(name)) return *value;
  return object_.Error(fmt::format("{} lacks '{}'", owner_, name));
}

Result<std::string> Fields::TakeText(std::string_view name, std::string otherwise) {
  const std::optional<FileValue> value = Take(name);
  if (!value) return otherwise;
  KSTREAM_ASSIGN_OR_RETURN(std::string text, value->Text());
  if (text.empty()) return value->Error(fmt::format("'{}' is empty", name));
  return text;
}

Result<std::string> Fields::TakeChoice(std::string_view name,
                                       const std::vector<std::string_view>& choices,
                                       std::string otherwise) {
  KSTREAM_ASSIGN_OR_RETURN(std::string text, TakeText(name, otherwise));
  if (text == otherwise || std::ranges::find(choices, text) != choices.end()) return text;
  return Take(name)->Error(fmt::format("'{}' is none of {}{}", text, fmt::join(choices, ", "),
                                       DidYouMean(text, choices)));
}

Result<std::optional<Expression>> Fields::TakeExpression(std::string_view name,
                                                         const std::vector<std::string>& names) {
  const std::optional<FileValue> value = Take(name);
  if (!value) return std::optional<Expression>();
  KSTREAM_ASSIGN_OR_RETURN(Expression expression, value->Compile(names));
  return std::optional<Expression>(std::move(expression));
}

Status Fields::Finish() const {
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const FileValue::Member& member : members_) {
    if (asked_.contains(member.name)) continue;
    const std::string near = DidYouMean(member.name, known);
    return member.name_value.Error(
        fmt::format("{} has no field '{}'{}", owner_, member.name,
                    near.empty() ? fmt::format(": it takes {}", fmt::join(known, ", ")) : near));
  }
  return Status::Ok();
}

Result<bool> TakeTable(Fields* fields, std::string_view field) {
  const std::optional<FileValue> table = fields->Take(field);
  if (!table) return false;
  const json::Type type = table->type();
  if (type == json::Type::kTrue || type == json::Type::kFalse) return type == json::Type::kTrue;
  return table->Error(
      fmt::format("'{}' is true, of records that are the rows of a table, or false", field));
}

Result<std::optional<std::chrono::milliseconds>> TakeDuration(Fields* fields,
                                                              std::string_view field) {
  const std::optional<FileValue> value = fields->Take(field);
  if (!value) return std::optional<std::chrono::milliseconds>();
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, value->Text());
  const Result<std::chrono::milliseconds> length = ParseDuration(text);
  if (!length.ok()) return value->Error(fmt::format("'{}': {}", field, length.status().message()));
  return std::optional(*length);
}

}  // namespace kstream::topology_file
