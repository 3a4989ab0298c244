#include "dsl/join_value.h"

#include <utility>

#include "dsl/operator.h"

namespace kstream::dsl {
namespace {

void Append(std::string_view name, const KeptRecord* record, std::string* out) {
  out->append(name).append(record ? record->value : "null");
}

}  // namespace

JoinValue::JoinValue(const std::optional<Expression>& value, ValueJoiner joiner, const Serdes& left,
                     const Serdes& right)
    : joiner_(std::move(joiner)), serdes_{left.value, right.value} {
  if (value) evaluator_.emplace(value->program(), left);
}

Status JoinValue::Read(JoinSide side, const Record& record, std::string_view* kept) {
  *kept = *record.value;
  if (joiner_) return Status::Ok();
  const Serde& serde = serdes_[static_cast<size_t>(side)];
  json::ValueCache* const cache = record.cache;
  const bool is_json = serde.kind() == Serde::Kind::kJson;
  if (is_json && cache && cache->one_line) return Status::Ok();
  json::Document parsed;
  const json::Document* document = &parsed;
  if (is_json && cache && cache->reader) {
    if (!cache->parsed) {
      KSTREAM_RETURN_IF_ERROR(cache->reader->Parse(*record.value, &cache->document));
      cache->parsed = true;
    }
    document = &cache->document;
  } else {
    if (!is_json) {
      text_.clear();
      KSTREAM_RETURN_IF_ERROR(serde.ToJson(*record.value, &text_));
      *kept = text_;
    }
    KSTREAM_RETURN_IF_ERROR(reader_.Parse(*kept, &parsed));
  }
  *kept = document->Raw(document->root());
  if (kept->find('\n') == kept->npos && kept->find('\r') == kept->npos) return Status::Ok();
  compact_.clear();
  json::AppendCompact(*document, document->root(), &compact_);
  *kept = compact_;
  return Status::Ok();
}

Status JoinValue::Make(const Record& result, const KeptRecord* left, const KeptRecord* right,
                       std::optional<std::string>* value, bool* made) {
  if (joiner_) {
    *made = true;
    return MakeByFunction(result, left, right, value);
  }
  std::string& text = *value ? **value : value->emplace();
  text.clear();
  if (!evaluator_) {
    *made = true;
    Append("{\"left\":", left, &text);
    Append(",\"right\":", right, &text);
    text += '}';
    return Status::Ok();
  }
  *made = false;
  const expr::Input input{.record = &result,
                          .out = {},
                          .left = left ? left->value : std::string_view(),
                          .right = right ? right->value : std::string_view(),
                          .acc = {}};
  const Status status = evaluator_->ForEach(input, [&](std::string_view json) {
    if (*made) return Status::Data("gives more than one value");
    *made = true;
    text = json;
    return Status::Ok();
  });
  return status.ok() ? status : status.At("--value");
}

Status JoinValue::MakeByFunction(const Record& result, const KeptRecord* left,
                                 const KeptRecord* right, std::optional<std::string>* value) {
  const auto record_of = [&](const KeptRecord& kept) {
    Record record;
    record.key = result.key;
    record.value = kept.value;
    record.timestamp = kept.time;
    record.timestamp_type = TimestampType::kCreateTime;
    record.headers = kept.headers;
    return record;
  };
  const Record none;
  const Record left_record = left ? record_of(*left) : none;
  const Record right_record = right ? record_of(*right) : none;
  MadeBytes made = joiner_(left ? &left_record : nullptr, right ? &right_record : nullptr);
  if (!made.ok()) return WhyNone(made);
  *value = *std::move(made);
  return Status::Ok();
}

}  // namespace kstream::dsl
