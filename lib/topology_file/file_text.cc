#include "topology_file/file_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "expr/tree.h"

namespace kstream::topology_file {
namespace {

using json::Type;

bool IsVariableName(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::string_view NameOf(Type type) {
  switch (type) {
    case Type::kNull:
      return "null";
    case Type::kFalse:
    case Type::kTrue:
      return "a boolean";
    case Type::kNumber:
      return "a number";
    case Type::kString:
      return "a string";
    case Type::kArray:
      return "an array";
    case Type::kObject:
      break;
  }
  return "an object";
}

// How many bytes of a string's content the character at its beginning takes, and how many of the
// text that it stands for.
std::pair<size_t, size_t> FirstCharacter(std::string_view content) {
  if (content[0] != '\\') return {1, 1};
  if (content[1] != 'u') return {2, 1};
  unsigned code = 0;
  std::from_chars(content.data() + 2, content.data() + 6, code, 16);
  if (code < 0x80) return {6, 1};
  if (code < 0x800) return {6, 2};
  // Of two surrogates, which are one character, the second follows at once.
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return surrogate ? std::pair<size_t, size_t>{12, 4} : std::pair<size_t, size_t>{6, 3};
}

// Where in a string's content the byte `at` of its text is written.
size_t OffsetInContent(std::string_view content, size_t at) {
  size_t raw = 0;
  size_t text = 0;
  while (raw < content.size() && text < at) {
    const auto [raw_size, text_size] = FirstCharacter(content.substr(raw));
    raw += raw_size;
    text += text_size;
  }
  return std::min(raw, content.size());
}

// The byte of `text` that is at line and column, in code points from 1.
size_t OffsetOf(std::string_view text, size_t line, size_t column) {
  size_t at = 0;
  for (; line > 1; --line) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  const auto continues = [&] { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  for (; column > 1 && at < text.size(); --column) {
    ++at;
    while (at < text.size() && continues()) ++at;
  }
  return at;
}

// What an expression's compiler says: "L:C: what is wrong there".
struct Complaint {
  size_t line = 0, column = 0;  // 0: it named no place
  std::string_view what;
};

Complaint Split(std::string_view message) {
  Complaint complaint{.what = message};
  const char* const end = message.data() + message.size();
  const auto line = std::from_chars(message.data(), end, complaint.line);
  if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':') return {.what = message};
  const auto column = std::from_chars(line.ptr + 1, end, complaint.column);
  if (column.ec != std::errc() || end - column.ptr < 2 || *column.ptr != ':') {
    return {.what = message};
  }
  complaint.what = message.substr(column.ptr + 2 - message.data());
  return complaint;
}

}  // namespace

// --- FileText ---

Result<std::string> FileText::Load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  // Of an empty file there is nothing to insert, which a stream takes for a failure.
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (!in.is_open() || in.bad() || !text) {
    return Status::Usage(fmt::format("{}: the file cannot be read", path));
  }
  return std::move(text).str();
}

Result<std::shared_ptr<const FileText>> FileText::Parse(std::string text, std::string name,
                                                        TopologyVariables variables) {
  std::shared_ptr<FileText> file(
      new FileText(std::move(text), std::move(name), std::move(variables)));
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string_view json = file->text_;
  if (json.starts_with(kByteOrderMark)) json.remove_prefix(kByteOrderMark.size());
  if (const Status status = file->reader_.Parse(json, &file->document_); !status.ok()) {
    // "not JSON: what is wrong at byte N".
    const std::string_view message = status.message();
    constexpr std::string_view kAt = " at byte ";
    const size_t at = message.rfind(kAt);
    size_t byte = 0;
    if (at != message.npos) {
      std::from_chars(message.data() + at + kAt.size(), message.data() + message.size(), byte);
    }
    return file->Error(byte + (file->text_.size() - json.size()), message.substr(0, at));
  }
  KSTREAM_RETURN_IF_ERROR(file->CheckNames(file->document_.root()));
  return std::shared_ptr<const FileText>(std::move(file));
}

std::string FileText::Position(size_t at) const {
  return fmt::format("{}:{}", name_, expr::PositionText(text_, std::min(at, text_.size())));
}

Status FileText::Error(size_t at, std::string_view message) const {
  return Status::Expression(fmt::format("{}: {}", Position(at), message));
}

Status FileText::CheckNames(json::Node value) const {
  const Type type = document_.type(value);
  if (type == Type::kArray) {
    for (auto n = document_.First(value); n != json::kNoNode; n = document_.Next(n)) {
      KSTREAM_RETURN_IF_ERROR(CheckNames(n));
    }
  }
  if (type != Type::kObject) return Status::Ok();
  std::set<std::string> seen;
  for (auto n = document_.First(value); n != json::kNoNode;
       n = document_.Next(document_.ValueOf(n))) {
    std::string name;
    json::Unescape(document_.StringContent(n), &name);
    const auto [at, fresh] = seen.insert(std::move(name));
    if (!fresh) {
      return Error(Offset(n),
                   fmt::format("'{}' stands here a second time: rename or remove one", *at));
    }
    KSTREAM_RETURN_IF_ERROR(CheckNames(document_.ValueOf(n)));
  }
  return Status::Ok();
}

std::optional<std::string> FileText::Variable(const std::string& name) const {
  if (const auto given = variables_.given.find(name); given != variables_.given.end()) {
    return given->second;
  }
  const char* const value = variables_.environment ? std::getenv(name.c_str()) : nullptr;
  if (value == nullptr) return std::nullopt;
  return value;
}

std::vector<std::string> FileText::UnusedVariables() const {
  std::vector<std::string> unused;
  for (const auto& [name, value] : variables_.given) {
    const bool used = text_.find(fmt::format("${{{}}}", name)) != text_.npos ||
                      text_.find(fmt::format("${{{}:-", name)) != text_.npos;
    if (!used) unused.push_back(name);
  }
  return unused;
}

// --- FileValue ---

Type FileValue::type() const { return file_->document_.type(node_); }
std::string_view FileValue::Raw() const { return file_->document_.Raw(node_); }
size_t FileValue::offset() const { return file_->Offset(node_); }

Status FileValue::Error(std::string_view message) const {
  return file_->Error(file_->Offset(node_), message);
}

Status FileValue::At(const Status& status) const {
  return status.At(file_->Position(file_->Offset(node_)));
}

Result<std::string> FileValue::Resolve(std::string_view text) const {
  // Within an object a value stays within its string, whatever is in it.
  const auto append = [&](const std::string& value, std::string* out) {
    if (is_string()) {
      *out += value;
      return;
    }
    std::string quoted;
    json::AppendQuoted(value, &quoted);
    out->append(quoted, 1, quoted.size() - 2);
  };
  std::string resolved;
  while (true) {
    const size_t at = text.find("${");
    if (at == text.npos) return resolved.append(text);
    if (at > 0 && text[at - 1] == '$') {
      resolved.append(text.substr(0, at - 1)).append("${");
      text.remove_prefix(at + 2);
      continue;
    }
    const size_t end = text.find('}', at);
    if (end == text.npos) return Error("a '${' without its '}': '$${' stands for '${' itself");
    const std::string_view inside = text.substr(at + 2, end - at - 2);
    const size_t dash = inside.find(":-");
    const std::string name(inside.substr(0, dash));
    if (!IsVariableName(name)) {
      return Error(
          fmt::format("'{}' is no name of a variable: letters, digits and '_' make one", name));
    }
    std::optional<std::string> value = file_->Variable(name);
    if (!value && dash != inside.npos) value = inside.substr(dash + 2);
    if (!value) {
      return Error(
          fmt::format("nothing is said of ${{{0}}}: give it with --set {0}=VALUE, or in "
                      "the environment",
                      name));
    }
    resolved.append(text.substr(0, at));
    append(*value, &resolved);
    text.remove_prefix(end + 1);
  }
}

Result<std::string> FileValue::Text() const {
  if (!is_string()) return Error(fmt::format("takes a string, and got {}", NameOf(type())));
  std::string text;
  json::Unescape(file_->document_.StringContent(node_), &text);
  return Resolve(text);
}

Result<std::string> FileValue::ObjectText() const {
  if (!is_object()) return Error(fmt::format("takes an object, and got {}", NameOf(type())));
  return Resolve(Raw());
}

Result<std::string> FileValue::FlagText() const {
  const bool plain = type() == Type::kNumber || type() == Type::kTrue;
  return plain ? std::string(Raw()) : Text();
}

Result<Expression> FileValue::Compile(const std::vector<std::string>& names) const {
  std::string text;
  Language language = Language::kJq;
  std::string_view written;  // of what the text is made
  if (is_string()) {
    KSTREAM_ASSIGN_OR_RETURN(text, Text());
    written = file_->document_.StringContent(node_);
    if (text.find_first_not_of(" \t\r\n") == text.npos) {
      return Error("the expression is empty: . stands for the value as it is");
    }
  } else if (is_object()) {
    KSTREAM_ASSIGN_OR_RETURN(text, Resolve(Raw()));
    written = Raw();
    language = Language::kJsonLogic;
  } else {
    return Error(
        fmt::format("takes an expression, jq in a string or a JsonLogic object, and got "
                    "{}",
                    NameOf(type())));
  }
  Result<Expression> expression = Expression::Compile(text, language, names);
  if (expression.ok()) return expression;
  const Complaint complaint = Split(expression.status().message());
  const size_t start = written.data() - file_->text_.data();
  // With variables the places of the text are not those of the file.
  const bool same = written.find("${") == written.npos;
  if (!same || complaint.line == 0) {
    return Error(fmt::format("'{}': {}", text, expression.status().message()));
  }
  const size_t at = OffsetOf(text, complaint.line, complaint.column);
  return file_->Error(start + (is_string() ? OffsetInContent(written, at) : at), complaint.what);
}

Result<std::vector<FileValue::Member>> FileValue::Members(std::string_view what) const {
  if (!is_object()) return Error(fmt::format("takes {}, and got {}", what, NameOf(type())));
  const json::Document& document = file_->document_;
  std::vector<Member> members;
  for (auto n = document.First(node_); n != json::kNoNode; n = document.Next(document.ValueOf(n))) {
    std::string name;
    json::Unescape(document.StringContent(n), &name);
    members.push_back({std::move(name), {file_, n}, {file_, document.ValueOf(n)}});
  }
  return members;
}

Result<std::vector<FileValue>> FileValue::Items(std::string_view what) const {
  if (!is_array()) return Error(fmt::format("takes {}, and got {}", what, NameOf(type())));
  std::vector<FileValue> items;
  for (auto n = file_->document_.First(node_); n != json::kNoNode; n = file_->document_.Next(n)) {
    items.emplace_back(file_, n);
  }
  return items;
}

}  // namespace kstream::topology_file
