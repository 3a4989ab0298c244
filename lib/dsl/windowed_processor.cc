#include "dsl/windowed_processor.h"

#include <fmt/format.h>

#include <utility>

#include "dsl/window_key.h"
#include "record/json_document.h"

namespace kstream::dsl {
namespace {

std::string Describe(const WindowSpec& spec) {
  std::string json = "{\"windows\":";
  json::AppendQuoted(spec.ToString(), &json);
  if (!spec.zone.empty()) json::AppendQuoted(spec.zone, &json.append(",\"timezone\":"));
  return json += '}';
}

}  // namespace

WindowedProcessor::WindowedProcessor(const AggregationPlan& plan)
    : RowProcessor(plan), late_to_(plan.late), windows_(Describe(*plan.window)) {}

Status WindowedProcessor::Late(const Record& record) {
  skips().Late();
  return late_to_.empty() ? Status::Ok() : context().Forward(record, late_to_);
}

Status WindowedProcessor::CheckWindows() {
  StoredRow row;
  KSTREAM_ASSIGN_OR_RETURN(says_windows_, store()->Find(kWindowsKey, &row));
  if (!says_windows_ || row.value == windows_) return Status::Ok();
  return StoredOtherwise(fmt::format("its rows are those of {}, not of {}", row.value, windows_));
}

Status WindowedProcessor::SayWindows() {
  if (std::exchange(says_windows_, true)) return Status::Ok();
  return store()->Put(kWindowsKey, windows_, 0);
}

}  // namespace kstream::dsl
