#include "dsl/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/program.h"

namespace kstream::dsl {
namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

void AppendFlag(std::string_view flag, std::string_view value, std::string* out) {
  if (value.empty()) return;
  out->append(" ").append(flag).append(" ").append(value);
}

void AppendFlag(std::string_view flag, const std::optional<Expression>& value, std::string* out) {
  if (value) AppendFlag(flag, Quoted(*value), out);
}

void AppendRoute(const RouteSpec& route, std::string* out) {
  AppendFlag("--to", route.to, out);
  AppendFlag("--partition", route.partition, out);
}

void AppendWindow(const WindowSpec& window, std::string* out) {
  AppendFlag("--window", window.ToString(), out);
  if (window.grace.count() > 0) {
    AppendFlag("--grace", fmt::format("{}ms", window.grace.count()), out);
  }
  if (!window.zone.empty()) AppendFlag("--timezone", Quoted(window.zone), out);
}

std::string EmitOf(AggregateSpec::Emit emit, std::chrono::milliseconds every) {
  switch (emit) {
    case AggregateSpec::Emit::kFinal:
      return "final";
    case AggregateSpec::Emit::kUpdate:
      return "update";
    case AggregateSpec::Emit::kChange:
      return "change";
    case AggregateSpec::Emit::kEvery:
      return fmt::format("every:{}ms", every.count());
  }
  return "";
}

}  // namespace

std::string Quoted(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, IsWordCharacter)) return std::string(text);
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == '\n') {
      out += "'$'\\n''";
    } else {
      out += c;
    }
  }
  return out += '\'';
}

std::string Quoted(const Expression& expression) {
  return (expression.program()->json_logic() ? "jsonlogic " : "") + Quoted(expression.text());
}

std::string Describe(const SerdeNames& serdes) {
  const SerdeNames defaults;
  std::string out;
  if (serdes.key != defaults.key) AppendFlag("-s", "key=" + Quoted(serdes.key), &out);
  if (serdes.value != defaults.value) AppendFlag("-s", "value=" + Quoted(serdes.value), &out);
  return out;
}

std::string Describe(const WindowSpec& window, AggregateSpec::Emit emit) {
  std::string out;
  AppendWindow(window, &out);
  AppendFlag("--emit", EmitOf(emit, {}), &out);
  return out;
}

std::string Describe(const FilterSpec& spec) {
  std::string out = (spec.negate ? "filter-not " : "filter ") + Quoted(spec.keep);
  if (spec.table) out += " --table";
  if (!spec.kept.empty()) AppendFlag("kept-to", Quoted(spec.kept), &out);
  if (!spec.rest.empty()) AppendFlag("rest-to", Quoted(spec.rest), &out);
  AppendRoute(spec.route, &out);
  return out + Describe(spec.serdes);
}

std::string Describe(const MapSpec& spec) {
  std::string out = (spec.single ? "map " : "flat-map ") + Quoted(spec.value);
  AppendFlag("--tombstone", spec.tombstone, &out);
  AppendFlag("--set-key", spec.key, &out);
  for (const auto& [name, expression] : spec.headers) {
    AppendFlag("--header", Quoted(name) + "=" + Quoted(expression), &out);
  }
  AppendRoute(spec.route, &out);
  return out + Describe(spec.serdes);
}

std::string Describe(const DistinctSpec& spec) {
  std::string out = "distinct";
  AppendFlag("--unique-by", spec.by, &out);
  AppendFlag("--within", fmt::format("{}ms", spec.within.count()), &out);
  if (spec.grace) AppendFlag("--grace", fmt::format("{}ms", spec.grace->count()), &out);
  if (!spec.kept.empty()) AppendFlag("kept-to", Quoted(spec.kept), &out);
  if (!spec.rest.empty()) AppendFlag("rest-to", Quoted(spec.rest), &out);
  AppendRoute(spec.route, &out);
  return out + Describe(spec.serdes);
}

std::string Describe(const GroupBySpec& spec) {
  return (spec.table.empty() ? "group-by " : "group-table-by ") + Quoted(spec.by) +
         Describe(spec.serdes);
}

std::string Describe(const AggregateSpec& spec) {
  std::string out = spec.table ? "aggregate --table" : "aggregate";
  AppendFlag("--by", spec.by, &out);
  for (const AggregateFunction& function : spec.functions) {
    out += fmt::format(" --{} {}", ToString(function.kind), Quoted(NameOf(function)));
    if (function.argument) out += "=" + Quoted(*function.argument);
  }
  if (spec.fold) {
    AppendFlag("--init", Quoted(spec.fold->init), &out);
    AppendFlag("--add", Quoted(spec.fold->add), &out);
    AppendFlag("--sub", spec.fold->sub, &out);
    AppendFlag("--as", Quoted(spec.fold->name), &out);
  }
  if (spec.window) AppendWindow(*spec.window, &out);
  if (spec.ttl.count() > 0) AppendFlag("--ttl", fmt::format("{}ms", spec.ttl.count()), &out);
  AppendFlag("--emit", EmitOf(spec.emit, spec.every), &out);
  if (!spec.rows.empty()) AppendFlag("rows-to", Quoted(spec.rows), &out);
  if (!spec.late.empty()) AppendFlag("late-to", Quoted(spec.late), &out);
  AppendRoute(spec.route, &out);
  return out + Describe(spec.serdes);
}

}  // namespace kstream::dsl
