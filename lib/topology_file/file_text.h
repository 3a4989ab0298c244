// FileText: the text of a topology file, parsed, with the place of every value in it: whatever is
// wrong is told as FILE:LINE:COLUMN. FileValue is one value of it, and reads `${NAME}` in strings.
//
// A name that stands twice in one object is refused: of two nodes that are called alike JSON would
// let the last one win, silently. Tested by tests/unit/topology_file/topology_file_test.cc.
#ifndef KSTREAM_TOPOLOGY_FILE_FILE_TEXT_H_
#define KSTREAM_TOPOLOGY_FILE_FILE_TEXT_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/expression.h"
#include "kstream/status.h"
#include "kstream/topology_file.h"
#include "record/json_document.h"

namespace kstream::topology_file {

class FileText;

// A view: valid as long as its FileText.
class FileValue {
 public:
  FileValue(const FileText* file, json::Node node) : file_(file), node_(node) {}

  json::Type type() const;
  bool is_string() const { return type() == json::Type::kString; }
  bool is_object() const { return type() == json::Type::kObject; }
  bool is_array() const { return type() == json::Type::kArray; }
  bool is_null() const { return type() == json::Type::kNull; }

  // As it is written, and the byte of the file at which it begins.
  std::string_view Raw() const;
  size_t offset() const;

  // kExpression at this value.
  Status Error(std::string_view message) const;
  // The status as it is, at this value; Ok stays ok.
  Status At(const Status& status) const;

  // Of a string, with what its variables stand for. kExpression: something else, or an unknown
  // variable.
  Result<std::string> Text() const;
  // Of an object, its JSON text, with what its variables stand for. kExpression: something else.
  Result<std::string> ObjectText() const;
  // As Text, or a number or true as it is written: a flag's value.
  Result<std::string> FlagText() const;
  // A string is jq, an object JsonLogic. kExpression tells the very place that does not compile.
  // `names` as Expression::Compile takes them.
  Result<Expression> Compile(const std::vector<std::string>& names = {}) const;

  struct Member;
  // In their order. kExpression, of both: something else; `what` says what should stand here.
  Result<std::vector<Member>> Members(std::string_view what) const;
  Result<std::vector<FileValue>> Items(std::string_view what) const;

 private:
  // `text`, which is this value's, with what its variables stand for.
  Result<std::string> Resolve(std::string_view text) const;

  const FileText* file_;
  json::Node node_;
};

struct FileValue::Member {
  std::string name;
  FileValue name_value;  // where the name stands
  FileValue value;
};

class FileText {
 public:
  // The bytes of a file. kUsage: it cannot be read.
  static Result<std::string> Load(const std::string& path);
  // kExpression: not JSON, a name twice in one object.
  static Result<std::shared_ptr<const FileText>> Parse(std::string text, std::string name,
                                                       TopologyVariables variables);

  FileValue root() const { return {this, document_.root()}; }
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  // kExpression: "NAME:LINE:COLUMN: message", of the byte `at` of the text.
  Status Error(size_t at, std::string_view message) const;
  // Variables that were given, and that no string names. After all strings were read.
  std::vector<std::string> UnusedVariables() const;

 private:
  friend class FileValue;
  FileText(std::string text, std::string name, TopologyVariables variables)
      : text_(std::move(text)), name_(std::move(name)), variables_(std::move(variables)) {}

  std::string Position(size_t at) const;
  Status CheckNames(json::Node value) const;
  size_t Offset(json::Node node) const { return document_.Raw(node).data() - text_.data(); }
  std::optional<std::string> Variable(const std::string& name) const;

  const std::string text_;
  const std::string name_;
  const TopologyVariables variables_;
  json::Reader reader_;
  json::Document document_;
};

}  // namespace kstream::topology_file

#endif  // KSTREAM_TOPOLOGY_FILE_FILE_TEXT_H_
