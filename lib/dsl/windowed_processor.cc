#include "dsl/windowed_processor.h"

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
    : RowProcessor(plan), late_to_(plan.late), label_(Describe(*plan.window)) {}

Status WindowedProcessor::Late(const Record& record) {
  skips().Late();
  return late_to_.empty() ? Status::Ok() : context().Forward(record, late_to_);
}

}  // namespace kstream::dsl
