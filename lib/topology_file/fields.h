// Fields: an object of a topology file, whose members are taken by name. What nobody has asked for
// is refused in the end, with the nearest of the names that somebody has.
#ifndef KSTREAM_TOPOLOGY_FILE_FIELDS_H_
#define KSTREAM_TOPOLOGY_FILE_FIELDS_H_

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/expression.h"
#include "kstream/status.h"
#include "topology_file/file_text.h"

namespace kstream::topology_file {

class Fields {
 public:
  // `owner` is what messages call the object: "node 'big'".
  static Result<Fields> Of(FileValue object, std::string owner);

  FileValue object() const { return object_; }
  const std::string& owner() const { return owner_; }
  const std::vector<FileValue::Member>& members() const { return members_; }

  std::optional<FileValue> Take(std::string_view name);
  // kExpression: it is not there.
  Result<FileValue> Need(std::string_view name);
  // `otherwise` where it is not there.
  Result<std::string> TakeText(std::string_view name, std::string otherwise = {});
  Result<std::string> TakeChoice(std::string_view name,
                                 const std::vector<std::string_view>& choices,
                                 std::string otherwise);
  Result<std::optional<Expression>> TakeExpression(std::string_view name,
                                                   const std::vector<std::string>& names = {});

  // kExpression: a field that was not taken.
  Status Finish() const;

 private:
  Fields(FileValue object, std::string owner, std::vector<FileValue::Member> members)
      : object_(object), owner_(std::move(owner)), members_(std::move(members)) {}

  FileValue object_;
  std::string owner_;
  std::vector<FileValue::Member> members_;
  std::set<std::string, std::less<>> asked_;
};

// Whether `field` says that the records are the rows of a table.
Result<bool> TakeTable(Fields* fields, std::string_view field);

// A length of time; nullopt: it is not there.
Result<std::optional<std::chrono::milliseconds>> TakeDuration(Fields* fields,
                                                              std::string_view field);

// ": did you mean 'NAME'?" with the nearest of `names`, or nothing.
std::string DidYouMean(std::string_view name, const std::vector<std::string_view>& names);

}  // namespace kstream::topology_file

#endif  // KSTREAM_TOPOLOGY_FILE_FIELDS_H_
