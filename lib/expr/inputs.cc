#include "expr/inputs.h"

namespace kstream::expr {
namespace {

Status Text(std::string_view what, std::string_view text, Value* value) {
  if (!json::IsUtf8(text)) return Status::Data(std::string(what) + " is not UTF-8");
  *value = Value::String(text);
  return Status::Ok();
}

}  // namespace

Status Inputs::Parse(std::string_view text, std::unique_ptr<Parsed>* parsed, Value* value) {
  if (*parsed == nullptr) *parsed = std::make_unique<Parsed>();
  Parsed& p = **parsed;
  KSTREAM_RETURN_IF_ERROR(p.reader.Parse(text, &p.document));
  *value = Value::Of(p.document, p.document.root());
  return Status::Ok();
}

Status Inputs::ReadBytes(const Bytes& bytes, const Serde& serde, std::unique_ptr<Parsed>* parsed,
                         Value* value) {
  *value = Value::Null();
  if (!bytes) return Status::Ok();
  if (serde.kind() == Serde::Kind::kJson) return Parse(*bytes, parsed, value);
  if (*parsed == nullptr) *parsed = std::make_unique<Parsed>();
  std::string& text = (*parsed)->text;
  text.clear();
  KSTREAM_RETURN_IF_ERROR(serde.ToJson(*bytes, &text));
  return Parse(text, parsed, value);
}

Status Inputs::ReadValue(const Record& record, Value* value) {
  json::ValueCache* cache = record.cache;
  if (!record.value || serdes_.value.kind() != Serde::Kind::kJson || cache == nullptr ||
      (!cache->parsed && cache->reader == nullptr)) {
    const Status status = ReadBytes(record.value, serdes_.value, &value_, value);
    return status.ok() ? status : status.At("the value");
  }
  if (!cache->parsed) {
    if (const Status status = cache->reader->Parse(*record.value, &cache->document); !status.ok()) {
      return status.At("the value");
    }
    cache->parsed = true;
  }
  *value = Value::Of(cache->document, cache->document.root());
  return Status::Ok();
}

Status Inputs::ReadName(Name name, const Input& input, Arena* arena, Value* value) {
  *value = Value::Null();
  const Record& record = *input.record;
  std::string_view json;
  switch (name) {
    case Name::kKey:
      if (record.key && serdes_.key.kind() == Serde::Kind::kString) {
        return Text("the key", *record.key, value);
      }
      if (Status status = ReadBytes(record.key, serdes_.key, &names_[0], value); !status.ok()) {
        return status.At("the key");
      }
      return Status::Ok();
    case Name::kTimestamp:
      if (record.timestamp_type != TimestampType::kNone) *value = Value::Int(record.timestamp);
      return Status::Ok();
    case Name::kTopic:
      return Text("the topic's name", record.topic, value);
    case Name::kPartition:
      if (record.partition >= 0) *value = Value::Int(record.partition);
      return Status::Ok();
    case Name::kOffset:
      if (record.offset >= 0) *value = Value::Int(record.offset);
      return Status::Ok();
    case Name::kCluster:
      return Text("the cluster's name", record.cluster, value);
    case Name::kHeaders:
      *value = Headers(record, arena);
      return Status::Ok();
    case Name::kHeadersList:
      *value = HeadersList(record, arena);
      return Status::Ok();
    case Name::kOut:
      json = input.out;
      break;
    case Name::kLeft:
      json = input.left;
      break;
    case Name::kRight:
      json = input.right;
      break;
    case Name::kAcc:
      json = input.acc;
      break;
  }
  if (json.data() == nullptr) return Status::Ok();
  const auto i = static_cast<size_t>(name);
  if (Status status = Parse(json, &names_[i], value); !status.ok()) {
    return status.At("$" + std::string(kNameText[i]));
  }
  return Status::Ok();
}

// Text, or as in the envelope {"b64": ".."} when it is none.
Value Inputs::HeaderValue(const Bytes& bytes, Arena* arena) {
  if (!bytes) return Value::Null();
  if (json::IsUtf8(*bytes)) return Value::String(*bytes);
  std::string encoded;
  if (!Serde(Serde::Kind::kBase64).ToJson(*bytes, &encoded).ok()) return Value::Null();
  ObjectBuilder object(arena);
  object.Append(Value::Spelled("b64", false),
                Value::Spelled(arena->Copy(encoded.substr(1, encoded.size() - 2)), false));
  return object.Build();
}

Value Inputs::Headers(const Record& record, Arena* arena) {
  ObjectBuilder headers(arena);
  for (const Header& header : record.headers) {
    if (!json::IsUtf8(header.name)) continue;  // it has no name in JSON
    headers.Set(Value::String(header.name), HeaderValue(header.value, arena));
  }
  return headers.Build();
}

Value Inputs::HeadersList(const Record& record, Arena* arena) {
  ArrayBuilder list(arena);
  for (const Header& header : record.headers) {
    ObjectBuilder object(arena);
    object.Append(Value::Spelled("name", false), HeaderValue(header.name, arena));
    object.Append(Value::Spelled("value", false), HeaderValue(header.value, arena));
    list.Add(object.Build());
  }
  return list.Build();
}

}  // namespace kstream::expr
