#include "record/serde.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "record/base64.h"
#include "record/decimal.h"
#include "record/json_document.h"

namespace kstream {
namespace {

// What a pack letter is: bytes of an integer, or 0 for 'c' and 's'.
int Width(char letter) {
  switch (letter) {
    case 'b':
    case 'B':
      return 1;
    case 'h':
    case 'H':
      return 2;
    case 'i':
    case 'I':
      return 4;
    case 'q':
    case 'Q':
      return 8;
    default:
      return 0;
  }
}

bool IsSigned(char letter) { return letter >= 'a'; }
bool IsPrefix(char letter) { return letter == '<' || letter == '>' || letter == ' '; }
bool IsField(char letter) { return Width(letter) != 0 || letter == 'c' || letter == 's'; }

Result<std::string> ParsePack(std::string_view spec) {
  size_t fields = 0;
  char last = '\0';
  for (char letter : spec) {
    if (IsPrefix(letter)) continue;
    if (!IsField(letter) && letter != '$') {
      return Status::Usage(
          fmt::format("'{}' is not a serde: give json, string, b64, hex or pack letters out of "
                      "<>bBhHiIqQcs$",
                      spec));
    }
    if (last == '$' || (last == 's' && letter != '$')) {
      return Status::Usage(fmt::format("serde '{}': nothing can follow '{}'", spec, last));
    }
    fields += IsField(letter) ? 1 : 0;
    last = letter;
  }
  if (fields == 0) return Status::Usage(fmt::format("serde '{}' names no field", spec));
  return std::string(spec);
}

// Walks the letters of a checked pack string, byte order and white space left out.
class PackLetters {
 public:
  explicit PackLetters(std::string_view pack) : rest_(pack) {}

  // The next letter; '\0' at the end.
  char Next() {
    while (!rest_.empty()) {
      char letter = rest_.front();
      rest_.remove_prefix(1);
      if (letter == '<' || letter == '>') little_ = letter == '<';
      if (!IsPrefix(letter)) return letter;
    }
    return '\0';
  }
  bool little_endian() const { return little_; }

 private:
  std::string_view rest_;
  bool little_ = false;
};

bool IsSingle(std::string_view pack) {
  return std::count_if(pack.begin(), pack.end(), IsField) == 1;
}

uint64_t ReadInteger(std::string_view bytes, bool little_endian) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    char byte = bytes[little_endian ? bytes.size() - 1 - i : i];
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  return value;
}

int64_t SignExtend(uint64_t value, int width) {
  int shift = 64 - 8 * width;
  return static_cast<int64_t>(value << shift) >> shift;
}

void WriteInteger(uint64_t value, int width, bool little_endian, std::string* out) {
  for (int i = 0; i < width; ++i) {
    int byte = little_endian ? i : width - 1 - i;
    out->push_back(static_cast<char>(value >> (8 * byte)));
  }
}

Status UnpackField(char letter, bool little_endian, std::string_view* bytes, std::string* json) {
  if (letter == 's') {
    if (!json::IsUtf8(*bytes)) return Status::Data("the text of pack letter 's' is not UTF-8");
    json::AppendQuoted(*bytes, json);
    *bytes = {};
    return Status::Ok();
  }
  int width = Width(letter);
  size_t need = letter == 'c' ? 1 : static_cast<size_t>(width);
  if (bytes->size() < need) {
    return Status::Data(fmt::format("pack letter '{}' needs {} bytes and {} are left", letter, need,
                                    bytes->size()));
  }
  std::string_view field = bytes->substr(0, need);
  bytes->remove_prefix(need);
  if (letter == 'c') {
    if (static_cast<unsigned char>(field[0]) > 0x7F) {
      return Status::Data("the byte of pack letter 'c' is not ASCII");
    }
    json::AppendQuoted(field, json);
    return Status::Ok();
  }
  uint64_t value = ReadInteger(field, little_endian);
  *json +=
      IsSigned(letter) ? fmt::format("{}", SignExtend(value, width)) : fmt::format("{}", value);
  return Status::Ok();
}

Status Unpack(std::string_view pack, std::string_view bytes, std::string* json) {
  const bool array = !IsSingle(pack);
  PackLetters letters(pack);
  const char* separator = array ? "[" : "";
  while (char letter = letters.Next()) {
    if (letter == '$') {
      if (bytes.empty()) continue;
      return Status::Data(fmt::format("{} bytes are left at '$' of pack '{}'", bytes.size(), pack));
    }
    *json += separator;
    separator = ",";
    KSTREAM_RETURN_IF_ERROR(UnpackField(letter, letters.little_endian(), &bytes, json));
  }
  if (array) json->push_back(']');
  return Status::Ok();
}

// The text of a JSON string, or nothing for another value. `scratch` may hold it.
std::optional<std::string_view> StringText(std::string_view json, std::string* scratch) {
  if (json.size() < 2 || json.front() != '"') return std::nullopt;
  std::string_view content = json.substr(1, json.size() - 2);
  if (content.find('\\') == std::string_view::npos) return content;
  scratch->clear();
  json::Unescape(content, scratch);
  return *scratch;
}

// The elements of a valid compact JSON array of numbers and strings; nothing for another value.
std::optional<std::vector<std::string_view>> Elements(std::string_view json) {
  if (json.size() < 2 || json.front() != '[') return std::nullopt;
  json = json.substr(1, json.size() - 2);
  std::vector<std::string_view> elements;
  bool in_string = false;
  size_t start = 0;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      return std::nullopt;
    } else if (c == ',') {
      elements.push_back(json.substr(start, i - start));
      start = i + 1;
    }
  }
  if (!json.empty()) elements.push_back(json.substr(start));
  return elements;
}

std::string Shown(std::string_view json) {
  constexpr size_t kShown = 64;
  return json.size() <= kShown ? std::string(json) : std::string(json.substr(0, kShown)) + "...";
}

Status PackText(char letter, std::string_view json, std::string* bytes) {
  std::string scratch;
  std::optional<std::string_view> text = StringText(json, &scratch);
  if (!text) {
    return Status::Data(
        fmt::format("pack letter '{}' takes a string, not {}", letter, Shown(json)));
  }
  if (letter == 'c' && (text->size() != 1 || static_cast<unsigned char>(text->front()) > 0x7F)) {
    return Status::Data(
        fmt::format("pack letter 'c' takes one ASCII character, not {}", Shown(json)));
  }
  *bytes += *text;
  return Status::Ok();
}

Status PackInteger(char letter, bool little_endian, std::string_view json, std::string* bytes) {
  bool number = json.front() == '-' || (json.front() >= '0' && json.front() <= '9');
  std::optional<ScaledDecimal> value;
  if (number) value = ScaleDecimal(json, 0);
  int width = Width(letter);
  int bits = 8 * width - (IsSigned(letter) ? 1 : 0);
  const uint64_t max = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  const uint64_t limit = value && value->negative ? (IsSigned(letter) ? max + 1 : 0) : max;
  if (!value || !value->exact || value->magnitude > limit) {
    return Status::Data(fmt::format("pack letter '{}' takes a{} {}-bit integer, not {}", letter,
                                    IsSigned(letter) ? " signed" : "n unsigned", 8 * width,
                                    Shown(json)));
  }
  uint64_t magnitude = value->magnitude;
  WriteInteger(value->negative ? 0 - magnitude : magnitude, width, little_endian, bytes);
  return Status::Ok();
}

Status PackField(char letter, bool little_endian, std::string_view json, std::string* bytes) {
  return Width(letter) == 0 ? PackText(letter, json, bytes)
                            : PackInteger(letter, little_endian, json, bytes);
}

Status Pack(std::string_view pack, std::string_view json, std::string* bytes) {
  std::vector<std::string_view> fields = {json};
  if (!IsSingle(pack)) {
    std::optional<std::vector<std::string_view>> elements = Elements(json);
    auto expected = static_cast<size_t>(std::count_if(pack.begin(), pack.end(), IsField));
    if (!elements || elements->size() != expected) {
      return Status::Data(fmt::format("pack '{}' takes an array of {} numbers and strings, not {}",
                                      pack, expected, Shown(json)));
    }
    fields = *std::move(elements);
  }
  PackLetters letters(pack);
  for (std::string_view field : fields) {
    char letter = letters.Next();
    KSTREAM_RETURN_IF_ERROR(PackField(letter, letters.little_endian(), field, bytes));
  }
  return Status::Ok();
}

}  // namespace

Result<Serde> Serde::Parse(std::string_view spec) {
  if (auto custom = FindCustomSerde(spec)) {
    Serde serde(Kind::kCustom);
    serde.custom_ = std::move(custom);
    return serde;
  }
  return ParseBuiltIn(spec);
}

bool Serde::IsBuiltIn(std::string_view spec) { return ParseBuiltIn(spec).ok(); }

Result<Serde> Serde::ParseBuiltIn(std::string_view spec) {
  if (spec == "json") return Serde(Kind::kJson);
  if (spec == "string") return Serde(Kind::kString);
  if (spec == "b64") return Serde(Kind::kBase64);
  if (spec == "hex") return Serde(Kind::kHex);
  KSTREAM_ASSIGN_OR_RETURN(std::string pack, ParsePack(spec));
  Serde serde(Kind::kPack);
  serde.pack_ = std::move(pack);
  return serde;
}

Status Serde::ToJson(std::string_view bytes, std::string* json) const {
  switch (kind_) {
    case Kind::kJson:
      *json += bytes;
      return Status::Ok();
    case Kind::kString:
      if (!json::IsUtf8(bytes)) return Status::Data("not UTF-8; read it as b64 or hex");
      json::AppendQuoted(bytes, json);
      return Status::Ok();
    case Kind::kBase64:
    case Kind::kHex:
      json->push_back('"');
      kind_ == Kind::kHex ? AppendHex(bytes, json) : AppendBase64(bytes, json);
      json->push_back('"');
      return Status::Ok();
    case Kind::kCustom:
      return custom_->ToJson(bytes, json);
    case Kind::kPack:
      break;
  }
  const size_t start = json->size();
  Status status = Unpack(pack_, bytes, json);
  if (!status.ok()) json->resize(start);
  return status;
}

Status Serde::FromJson(std::string_view json, std::string* bytes) const {
  std::string scratch;
  switch (kind_) {
    case Kind::kJson:
      *bytes += json;
      return Status::Ok();
    case Kind::kString:
      *bytes += StringText(json, &scratch).value_or(json);
      return Status::Ok();
    case Kind::kBase64:
    case Kind::kHex: {
      std::optional<std::string_view> text = StringText(json, &scratch);
      bool hex = kind_ == Kind::kHex;
      if (text && (hex ? DecodeHex(*text, bytes) : DecodeBase64(*text, bytes))) return Status::Ok();
      return Status::Data(
          fmt::format("{} is not a string of {}", Shown(json), hex ? "hex digits" : "base64"));
    }
    case Kind::kCustom:
      return custom_->FromJson(json, bytes);
    case Kind::kPack:
      break;
  }
  const size_t start = bytes->size();
  Status status = Pack(pack_, json, bytes);
  if (!status.ok()) bytes->resize(start);
  return status;
}

}  // namespace kstream
