// The commands of kstream-inspect-state that are about rows.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/output.h"
#include "common/stage_plan.h"
#include "kstream-inspect-state/inspect_tool.h"
#include "kstream/http.h"
#include "kstream/load.h"
#include "kstream/log.h"

namespace kstream::tools {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// A time for people, or a number of ms.
Json Time(const std::optional<int64_t>& ms, bool pretty) {
  if (!ms) return {};
  return pretty ? Json(LocalTime(*ms)) : Json(*ms);
}

}  // namespace

Result<InspectOptions> InspectTool::Options() const {
  if (options_.runtime.app.empty()) {
    return Status::Usage("--app says whose stores: ls without it lists applications");
  }
  InspectOptions options{.app = options_.runtime.app, .from_changelog = from_changelog_};
  KSTREAM_ASSIGN_OR_RETURN(options.state_dir, StateDir());
  KSTREAM_ASSIGN_OR_RETURN(const Places places, FindPlaces(options_));
  options.home = ToCluster(places.clusters.front().properties);
  return options;
}

Result<std::unique_ptr<Inspector>> InspectTool::OpenInspector() const {
  if (from_http_.empty()) {
    if (!options_.token.empty()) return Status::Usage("--token is for --from-http");
    KSTREAM_ASSIGN_OR_RETURN(const InspectOptions options, Options());
    return Inspector::Open(options);
  }
  if (from_changelog_) return Status::Usage("--from-http contradicts --from-changelog");
  Result<std::unique_ptr<Inspector>> inspector = InspectOverHttp(from_http_, TokenOf(options_));
  if (!inspector.ok()) return inspector.status().At("--from-http");
  return inspector;
}

Result<RowQuery> InspectTool::Query() const {
  RowQuery query{.store = store_};
  if (task_) query.task = static_cast<int32_t>(*task_);
  if (!prefix_.empty() && !(from_.empty() && to_.empty())) {
    return Status::Usage("--prefix contradicts --from and --to: give one or the other");
  }
  if (!prefix_.empty()) query.Prefix(prefix_);
  if (!from_.empty()) query.from = from_;
  if (!to_.empty()) query.to = to_;
  query.at_window = at_window_.at_window;
  return query;
}

Status InspectTool::ListOverHttp() {
  KSTREAM_ASSIGN_OR_RETURN(const auto inspector, OpenInspector());
  KSTREAM_ASSIGN_OR_RETURN(const auto instances, inspector->List());
  Output out;
  for (const InspectedStore& one : instances) {
    out.Row(Json{{"store", one.store}, {"task", one.task}, {"offset", one.offset}}, pretty_);
  }
  return out.Flush();
}

Status InspectTool::List() {
  if (!from_http_.empty()) return ListOverHttp();
  KSTREAM_ASSIGN_OR_RETURN(const std::string state_dir, StateDir());
  Output out;
  if (options_.runtime.app.empty()) {
    KSTREAM_ASSIGN_OR_RETURN(const auto apps, ListApps(state_dir));
    for (const AppInstance& app : apps) {
      const Json json = {
          {"app", app.app}, {"instances", app.instances}, {"locked_by", OrNull(app.holder)}};
      out.Row(json, pretty_);
    }
    return out.Flush();
  }
  KSTREAM_ASSIGN_OR_RETURN(InspectOptions options, Options());
  options.home = {};
  KSTREAM_ASSIGN_OR_RETURN(const auto inspector, Inspector::Open(options));
  KSTREAM_ASSIGN_OR_RETURN(const auto instances, inspector->List());
  KSTREAM_ASSIGN_OR_RETURN(const auto holder, inspector->Holder());
  const bool windowed = std::ranges::any_of(
      instances, [](const InspectedStore& instance) { return instance.windows.has_value(); });
  for (const InspectedStore& instance : instances) {
    Json json = {{"store", instance.store}, {"task", instance.task}, {"rows", instance.rows}};
    if (instance.windows || (pretty_ && windowed)) json["windows"] = OrNull(instance.windows);
    json.update({{"bytes", instance.bytes},
                 {"engine", instance.engine},
                 {"format", instance.format},
                 {"offset", instance.offset},
                 {"standby", instance.standby},
                 {"incarnation", instance.incarnation},
                 {"written", Time(instance.written, pretty_)},
                 {"locked_by", OrNull(holder)},
                 {"path", instance.path}});
    out.Row(json, pretty_);
  }
  return out.Flush();
}

Result<int64_t> InspectTool::Print(const RowQuery& query) {
  KSTREAM_ASSIGN_OR_RETURN(const auto inspector, OpenInspector());
  Output out;
  int64_t rows = 0;
  if (limit_ && *limit_ == 0) return rows;
  KSTREAM_RETURN_IF_ERROR(inspector->Scan(query, [&](const InspectedRow& row) {
    if (!pretty_) {
      out.Line(RowToJson(row));
    } else {
      if (!out.has_cells()) out.Cells({"store", "time", "key", "window", "value"});
      out.Cells(RowToCells(row));
    }
    return ++rows < limit_.value_or(INT64_MAX) && out.open();
  }));
  KSTREAM_RETURN_IF_ERROR(out.Flush());
  return rows;
}

Status InspectTool::Get() {
  KSTREAM_ASSIGN_OR_RETURN(RowQuery query, Query());
  query.Only(words_[1]);
  KSTREAM_ASSIGN_OR_RETURN(const int64_t rows, Print(query));
  if (rows > 0) return Status::Ok();
  return {StatusCode::kNegative, fmt::format("there is no key {}", words_[1])};
}

Status InspectTool::Scan() {
  KSTREAM_ASSIGN_OR_RETURN(const RowQuery query, Query());
  return Print(query).status();
}

Status InspectTool::Stats() {
  KSTREAM_ASSIGN_OR_RETURN(const RowQuery query, Query());
  KSTREAM_ASSIGN_OR_RETURN(const auto inspector, OpenInspector());
  KSTREAM_ASSIGN_OR_RETURN(const auto totals, inspector->Totals(query));
  Output out;
  for (const StoreTotals& sum : totals) {
    Json json = {{"store", sum.store}, {"task", sum.task}, {"rows", sum.rows}};
    if (sum.windows) json["windows"] = *sum.windows;
    json.update({{"key_bytes", sum.key_bytes},
                 {"value_bytes", sum.value_bytes},
                 {"largest_value", sum.largest_value},
                 {"oldest", Time(sum.oldest, pretty_)},
                 {"newest", Time(sum.newest, pretty_)}});
    out.Row(json, pretty_);
  }
  return out.Flush();
}

// The lines of dump are those of rows, with what load must know beside them.
Status InspectTool::Dump() {
  KSTREAM_ASSIGN_OR_RETURN(RowQuery query, Query());
  query.stored = true;
  KSTREAM_ASSIGN_OR_RETURN(const InspectOptions options, Options());
  KSTREAM_ASSIGN_OR_RETURN(const auto inspector, Inspector::Open(options));
  KSTREAM_ASSIGN_OR_RETURN(const auto tasks, inspector->Tasks(query));
  const std::string of_tasks = tasks ? fmt::format(",\"tasks\":{}}}", *tasks) : "}";
  Output out;
  KSTREAM_RETURN_IF_ERROR(inspector->Scan(query, [&](const InspectedRow& row) {
    std::string line = RowToJson(row);
    line.pop_back();
    out.Line(line += of_tasks);
    return out.open();
  }));
  return out.Flush();
}

Status InspectTool::RunLoad() {
  KSTREAM_ASSIGN_OR_RETURN(const InspectOptions where, Options());
  KSTREAM_ASSIGN_OR_RETURN(const auto load, Load::Open({.app = where.app,
                                                        .state_dir = where.state_dir,
                                                        .home = where.home,
                                                        .store = store_,
                                                        .input = words_[1],
                                                        .replace = replace_}));
  KSTREAM_ASSIGN_OR_RETURN(const auto steps, execute_ ? load->Execute() : load->Plan());
  Output out;
  for (const LoadStep& step : steps) {
    const Json json = {{"store", step.store}, {"task", step.task},       {"target", step.target},
                       {"puts", step.puts},   {"deletes", step.deletes}, {"same", step.same}};
    out.Row(json, pretty_);
  }
  KSTREAM_RETURN_IF_ERROR(out.Flush());
  if (!execute_) {
    Log(LogLevel::kInfo, "this is the plan, and nothing was changed: --execute does it");
  } else if (where.home.brokers.empty()) {
    Log(LogLevel::kInfo, fmt::format("the store of application {} is loaded", where.app));
  } else {
    Log(LogLevel::kInfo,
        fmt::format("the changelog of application {} is loaded: directories of the "
                    "store take the rows over when it starts",
                    where.app));
  }
  return Status::Ok();
}

Result<StateSource> InspectTool::SourceOf(const std::string& operand) const {
  constexpr std::string_view kApp = "app:", kChangelog = "changelog:";
  StateSource source;
  KSTREAM_ASSIGN_OR_RETURN(source.state.state_dir, StateDir());
  const bool from_changelog = operand.starts_with(kChangelog);
  if (from_changelog || operand.starts_with(kApp)) {
    source.state.app = operand.substr((from_changelog ? kChangelog : kApp).size());
    source.state.from_changelog = from_changelog;
    KSTREAM_ASSIGN_OR_RETURN(const Places places, FindPlaces(options_));
    source.state.home = ToCluster(places.clusters.front().properties);
    return source;
  }
  std::error_code error;
  if (!std::filesystem::is_directory(operand, error)) {
    source.dump = operand;
    return source;
  }
  std::filesystem::path path(operand);
  if (!path.has_filename()) path = path.parent_path();
  source.state.app = path.filename();
  source.state.state_dir = path.has_parent_path() ? path.parent_path().string() : ".";
  return source;
}

Status InspectTool::Diff() {
  if (!options_.runtime.app.empty()) {
    return Status::Usage(
        "diff is told its sides by name: app:ID, changelog:ID, a directory, a dump");
  }
  KSTREAM_ASSIGN_OR_RETURN(const StateSource left, SourceOf(words_[1]));
  KSTREAM_ASSIGN_OR_RETURN(const StateSource right, SourceOf(words_[2]));
  KSTREAM_ASSIGN_OR_RETURN(const RowQuery query, Query());
  Output out;
  uint64_t differing = 0;
  const auto rows = CompareStates(left, right, query, [&](const RowDifference& difference) {
    differing++;
    out.Line(DifferenceToJson(difference, "a", "b"));
  });
  KSTREAM_RETURN_IF_ERROR(rows.status());
  KSTREAM_RETURN_IF_ERROR(out.Flush());
  if (differing == 0) {
    Log(LogLevel::kInfo, fmt::format("{} rows compared, no difference", *rows));
    return Status::Ok();
  }
  return {StatusCode::kNegative, fmt::format("{} of {} rows differ between {} and {}", differing,
                                             *rows, words_[1], words_[2])};
}

Status InspectTool::Verify() {
  KSTREAM_ASSIGN_OR_RETURN(const RowQuery query, Query());
  KSTREAM_ASSIGN_OR_RETURN(const InspectOptions options, Options());
  KSTREAM_ASSIGN_OR_RETURN(const auto inspector, Inspector::Open(options));
  Output out;
  const auto verdicts = inspector->Verify(query, [&](const RowDifference& difference) {
    out.Line(DifferenceToJson(difference, "directory", "changelog"));
  });
  KSTREAM_RETURN_IF_ERROR(verdicts.status());
  uint64_t rows = 0, differing = 0;
  for (const InstanceVerdict& verdict : *verdicts) {
    rows += verdict.rows;
    differing += verdict.differing;
    const Json json = {{"store", verdict.store},         {"task", verdict.task},
                       {"offset", verdict.offset},       {"rows", verdict.rows},
                       {"differing", verdict.differing}, {"superseded", verdict.superseded}};
    out.Row(json, pretty_);
  }
  KSTREAM_RETURN_IF_ERROR(out.Flush());
  if (differing == 0) return Status::Ok();
  return {StatusCode::kNegative,
          fmt::format("{} of {} rows are not as the changelogs of application {} have them: remove "
                      "the directories of those stores, a start rebuilds them",
                      differing, rows, options.app)};
}

Status InspectTool::History() {
  KSTREAM_ASSIGN_OR_RETURN(RowQuery query, Query());
  query.Only(words_[1]);
  KSTREAM_ASSIGN_OR_RETURN(const InspectOptions options, Options());
  KSTREAM_ASSIGN_OR_RETURN(const auto inspector, Inspector::Open(options));
  Output out;
  int64_t versions = 0;
  if (limit_ && *limit_ == 0) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(inspector->History(query, [&](const RowVersion& version) {
    if (!pretty_) {
      out.Line(VersionToJson(version));
    } else {
      if (!out.has_cells()) {
        out.Cells({"offset", "written", "store", "time", "key", "window", "value"});
      }
      std::vector<std::string> cells = RowToCells(version.row);
      if (version.deleted) cells.back() = "(deleted)";
      cells.insert(cells.begin(), {fmt::format("{}", version.offset), LocalTime(version.written)});
      out.Cells(std::move(cells));
    }
    return ++versions < limit_.value_or(INT64_MAX) && out.open();
  }));
  KSTREAM_RETURN_IF_ERROR(out.Flush());
  if (versions > 0) return Status::Ok();
  return {StatusCode::kNegative, fmt::format("the changelog has nothing of key {}", words_[1])};
}

}  // namespace kstream::tools
