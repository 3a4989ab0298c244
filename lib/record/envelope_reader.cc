// The reading half of record/envelope.h.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "record/base64.h"
#include "record/decimal.h"
#include "record/envelope.h"

namespace kstream {
namespace {

using json::kNoNode;
using json::Node;
using json::Type;

Status WrongType(std::string_view field, std::string_view wanted) {
  return Status::Data(fmt::format("envelope: \"{}\" is not {}", field, wanted));
}

// The integer that a valid number is, whatever its spelling.
std::optional<int64_t> IntegerOf(std::string_view number) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc() && end == number.data() + number.size()) return value;
  std::optional<ScaledDecimal> scaled = ScaleDecimal(number, 0);
  if (!scaled || !scaled->exact) return std::nullopt;
  return scaled->AsInt64();
}

template <typename Integer>
Status ReadInteger(const json::Document& document, Node node, std::string_view field,
                   Integer* out) {
  std::optional<int64_t> value;
  if (document.type(node) == Type::kNumber) value = IntegerOf(document.Raw(node));
  if (!value || *value < std::numeric_limits<Integer>::min() ||
      *value > std::numeric_limits<Integer>::max()) {
    return WrongType(field, fmt::format("an integer of {} bits", 8 * sizeof(Integer)));
  }
  *out = static_cast<Integer>(*value);
  return Status::Ok();
}

Status ReadTimestamp(const json::Document& document, Node type, Node ts, Record* record) {
  std::string_view word = "\"create\"";
  if (type != kNoNode) word = document.Raw(type);
  if (word != "\"create\"" && word != "\"logappend\"" && word != "\"unknown\"") {
    return WrongType("tstype", "\"create\", \"logappend\" or \"unknown\"");
  }
  if (ts == kNoNode || document.type(ts) == Type::kNull) return Status::Ok();
  int64_t value = 0;
  KSTREAM_RETURN_IF_ERROR(ReadInteger(document, ts, "ts", &value));
  if (word == "\"unknown\"") return Status::Ok();
  record->timestamp = value;
  record->timestamp_type =
      word == "\"create\"" ? TimestampType::kCreateTime : TimestampType::kLogAppendTime;
  return Status::Ok();
}

}  // namespace

// The last value of each field.
struct EnvelopeReader::Fields {
  Node topic = kNoNode, partition = kNoNode, offset = kNoNode, tstype = kNoNode, ts = kNoNode,
       headers = kNoNode, key = kNoNode, key_b64 = kNoNode, value = kNoNode, payload = kNoNode,
       payload_b64 = kNoNode, key_error = kNoNode, payload_error = kNoNode;

  Node* Find(std::string_view name) {
    static constexpr struct {
      std::string_view name;
      Node Fields::*node;
    } kFields[] = {
        {"topic", &Fields::topic},
        {"partition", &Fields::partition},
        {"offset", &Fields::offset},
        {"tstype", &Fields::tstype},
        {"ts", &Fields::ts},
        {"headers", &Fields::headers},
        {"key", &Fields::key},
        {"key_b64", &Fields::key_b64},
        {"value", &Fields::value},
        {"payload", &Fields::payload},
        {"payload_b64", &Fields::payload_b64},
        {"key_error", &Fields::key_error},
        {"payload_error", &Fields::payload_error},
    };
    for (const auto& field : kFields) {
      if (field.name == name) return &(this->*field.node);
    }
    return nullptr;
  }
};

Status EnvelopeReader::Parse(std::string_view line, Record* record) {
  KSTREAM_RETURN_IF_ERROR(reader_.Parse(line, &document_));
  Fields fields;
  KSTREAM_RETURN_IF_ERROR(Collect(&fields));
  Record read;
  if (fields.topic != kNoNode) {
    KSTREAM_RETURN_IF_ERROR(ReadText(fields.topic, "topic", &read.topic));
  }
  if (fields.partition != kNoNode) {
    KSTREAM_RETURN_IF_ERROR(ReadInteger(document_, fields.partition, "partition", &read.partition));
  }
  if (fields.offset != kNoNode) {
    KSTREAM_RETURN_IF_ERROR(ReadInteger(document_, fields.offset, "offset", &read.offset));
  }
  KSTREAM_RETURN_IF_ERROR(ReadTimestamp(document_, fields.tstype, fields.ts, &read));
  KSTREAM_RETURN_IF_ERROR(ReadKey(fields, &read.key));
  KSTREAM_RETURN_IF_ERROR(ReadValue(fields, &read.value));
  if (fields.headers != kNoNode) {
    KSTREAM_RETURN_IF_ERROR(ReadHeaders(fields.headers, &read.headers));
  }
  *record = read;
  return Status::Ok();
}

Status EnvelopeReader::Collect(Fields* fields) {
  const Node root = document_.root();
  if (document_.type(root) != Type::kObject) return Status::Data("envelope: not a JSON object");
  for (Node name = document_.First(root); name != kNoNode;) {
    Node value = document_.ValueOf(name);
    std::string_view text = document_.StringContent(name);
    if (document_.may_have_escapes() && text.find('\\') != std::string_view::npos) {
      scratch_.clear();
      json::Unescape(text, &scratch_);
      text = scratch_;
    }
    if (Node* field = fields->Find(text); field != nullptr) *field = value;
    name = document_.Next(value);
  }
  for (Node error : {fields->key_error, fields->payload_error}) {
    if (error == kNoNode) continue;
    return Status::Data(fmt::format("envelope: its writer could not decode the {}: {}",
                                    error == fields->key_error ? "key" : "payload",
                                    document_.Raw(error).substr(0, 200)));
  }
  return Status::Ok();
}

Status EnvelopeReader::ReadKey(const Fields& fields, Bytes* key) {
  if (fields.key_b64 != kNoNode) {
    if (fields.key != kNoNode) return Status::Data("envelope: both \"key\" and \"key_b64\"");
    std::string_view bytes;
    KSTREAM_RETURN_IF_ERROR(ReadBase64(fields.key_b64, "key_b64", &bytes));
    *key = bytes;
    return Status::Ok();
  }
  if (fields.key == kNoNode || document_.type(fields.key) == Type::kNull) return Status::Ok();
  if (document_.type(fields.key) == Type::kString) {
    *key = Text(fields.key);
    return Status::Ok();
  }
  scratch_.clear();
  json::AppendCompact(document_, fields.key, &scratch_);
  *key = arena_.Copy(scratch_);
  return Status::Ok();
}

Status EnvelopeReader::ReadValue(const Fields& fields, Bytes* value) {
  int given = (fields.value != kNoNode ? 1 : 0) + (fields.payload != kNoNode ? 1 : 0) +
              (fields.payload_b64 != kNoNode ? 1 : 0);
  if (given == 0) return Status::Data("envelope: no \"value\", \"payload\" or \"payload_b64\"");
  if (given > 1) {
    return Status::Data("envelope: more than one of \"value\", \"payload\" and \"payload_b64\"");
  }
  if (fields.value != kNoNode) {
    *value = document_.Raw(fields.value);
    return Status::Ok();
  }
  if (fields.payload_b64 != kNoNode) {
    std::string_view bytes;
    KSTREAM_RETURN_IF_ERROR(ReadBase64(fields.payload_b64, "payload_b64", &bytes));
    *value = bytes;
    return Status::Ok();
  }
  Type type = document_.type(fields.payload);
  if (type == Type::kNull) return Status::Ok();
  *value = type == Type::kString ? Text(fields.payload) : document_.Raw(fields.payload);
  return Status::Ok();
}

Status EnvelopeReader::ReadHeaders(Node node, std::span<const Header>* headers) {
  headers_.clear();
  switch (document_.type(node)) {
    case Type::kNull:
      return Status::Ok();
    case Type::kArray:
      KSTREAM_RETURN_IF_ERROR(ReadHeaderArray(node));
      break;
    case Type::kObject:
      KSTREAM_RETURN_IF_ERROR(ReadHeaderObject(node));
      break;
    default:
      return WrongType("headers", "an array of names and values");
  }
  if (headers_.empty()) return Status::Ok();
  // The arena hands out bytes; headers need alignment.
  void* memory = arena_.Allocate(headers_.size() * sizeof(Header) + alignof(Header));
  size_t space = headers_.size() * sizeof(Header) + alignof(Header);
  std::align(alignof(Header), headers_.size() * sizeof(Header), memory, space);
  auto* to = static_cast<Header*>(memory);
  std::uninitialized_copy(headers_.begin(), headers_.end(), to);
  *headers = {to, headers_.size()};
  return Status::Ok();
}

Status EnvelopeReader::ReadHeaderArray(Node node) {
  for (Node name = document_.First(node); name != kNoNode;) {
    Node value = document_.Next(name);
    if (value == kNoNode)
      return Status::Data("envelope: the last name in \"headers\" has no value");
    Header header;
    KSTREAM_RETURN_IF_ERROR(ReadText(name, "headers", &header.name));
    KSTREAM_RETURN_IF_ERROR(ReadHeaderValue(value, &header.value));
    headers_.push_back(header);
    name = document_.Next(value);
  }
  return Status::Ok();
}

Status EnvelopeReader::ReadHeaderObject(Node node) {
  for (Node name = document_.First(node); name != kNoNode;) {
    Node value = document_.ValueOf(name);
    std::string_view text = Text(name);
    const bool several = document_.type(value) == Type::kArray;
    for (Node one = several ? document_.First(value) : value; one != kNoNode;
         one = several ? document_.Next(one) : kNoNode) {
      Header header{text, std::nullopt};
      KSTREAM_RETURN_IF_ERROR(ReadHeaderValue(one, &header.value));
      headers_.push_back(header);
    }
    name = document_.Next(value);
  }
  return Status::Ok();
}

Status EnvelopeReader::ReadHeaderValue(Node node, Bytes* value) {
  if (document_.type(node) == Type::kNull) return Status::Ok();
  std::string_view text;
  KSTREAM_RETURN_IF_ERROR(ReadText(node, "headers", &text));
  *value = text;
  return Status::Ok();
}

// A string, or the {"b64":".."} that stands for one that is not UTF-8.
Status EnvelopeReader::ReadText(Node node, std::string_view what, std::string_view* text) {
  if (document_.type(node) == Type::kString) {
    *text = Text(node);
    return Status::Ok();
  }
  if (document_.type(node) == Type::kObject) {
    Node b64 = document_.Find(node, "b64");
    if (b64 != kNoNode) return ReadBase64(b64, what, text);
  }
  return WrongType(what, what == "headers" ? "an array of names and values, each a string or "
                                             "{\"b64\":\"..\"}, a value also null"
                                           : "a string");
}

Status EnvelopeReader::ReadBase64(Node node, std::string_view what, std::string_view* bytes) {
  if (document_.type(node) == Type::kString) {
    std::string_view text = Text(node);
    scratch_.clear();
    if (DecodeBase64(text, &scratch_)) {
      *bytes = arena_.Copy(scratch_);
      return Status::Ok();
    }
  }
  return WrongType(what, "a string of base64");
}

std::string_view EnvelopeReader::Text(Node string) {
  std::string_view content = document_.StringContent(string);
  if (!document_.may_have_escapes() || content.find('\\') == std::string_view::npos) return content;
  scratch_.clear();
  json::Unescape(content, &scratch_);
  return arena_.Copy(scratch_);
}

}  // namespace kstream
