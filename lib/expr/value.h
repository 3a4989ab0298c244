// The value that expressions compute with: sixteen bytes, copied freely, owning nothing.
//
// Most of what an expression touches is already written down somewhere: in the record's JSON text,
// or in the program. A Value therefore points there as long as it can: a number keeps its spelling
// until somebody calculates with it, a string keeps its escapes until somebody reads its text, an
// array or object of the record stays a node of its json::Document. Only what the program makes is
// built, in an Arena that is reset for each record, so that the usual program allocates nothing.
//
// Everything here belongs to one thread. A Value is valid until the Arena is reset or the Document
// parsed anew, whichever it points into. Tested by tests/unit/expr/number_test.cc,
// text_test.cc and agreement_test.cc.
#ifndef KSTREAM_EXPR_VALUE_H_
#define KSTREAM_EXPR_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "record/json_document.h"

namespace kstream::expr {

// Memory that is given back all at once. Reset() keeps the blocks it has for the next record, up to
// a limit. Nothing that lives here is destroyed: trivially destructible types only.
class Arena {
 public:
  // The most that one evaluation may hold; whoever asks for an amount that the data determines
  // (a repeated string) asks Fits() first, and evaluators look at full() as they go.
  static constexpr size_t kLimit = size_t{256} << 20;

  Arena() = default;
  Arena(Arena&&) noexcept = default;
  Arena& operator=(Arena&&) noexcept = default;

  void* Allocate(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (bytes > static_cast<size_t>(end_ - next_)) return AllocateSlow(bytes);
    char* result = next_;
    next_ += bytes;
    return result;
  }
  template <typename T>
  T* AllocateArray(size_t n) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 8);
    return static_cast<T*>(Allocate(n * sizeof(T)));
  }
  std::string_view Copy(std::string_view text);
  bool Fits(size_t bytes) const { return bytes <= kLimit && used_ + bytes <= kLimit; }
  bool full() const { return used_ > kLimit; }
  void Overflow() { used_ = kLimit + 1; }  // makes it full() until the Reset
  void Reset() {
    if (used_ != 0) ResetBlocks();
  }

 private:
  void* AllocateSlow(size_t bytes);
  void ResetBlocks();

  struct Block {
    std::unique_ptr<char[]> data;
    size_t size;
  };
  std::vector<Block> blocks_;
  char* next_ = nullptr;
  char* end_ = nullptr;
  size_t used_ = 0;  // bytes in all blocks that are in use
};

// What a value is, in jq's order of types.
enum class Type : uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

struct Array;
struct Object;

class Value {
 public:
  // How it is held. Several kinds are numbers; a kNode is always an array or object.
  enum class Kind : uint8_t {
    kNull,
    kFalse,
    kTrue,
    kInt,      // a 64-bit integer, exact
    kDouble,   // what a calculation gave; never an integer that kInt holds exactly (-0 is none)
    kLiteral,  // a number as spelled in JSON or in the program
    kString,
    kNode,    // an array or object in a Document
    kArray,   // built, in an Arena
    kObject,  // built, in an Arena
    kError,   // no value: the evaluation failed, and the evaluator holds the message
  };

  constexpr Value() : int_(0) {}
  static constexpr Value Null() { return Value(); }
  static constexpr Value Bool(bool b) { return Value(b ? Kind::kTrue : Kind::kFalse, 0); }
  static constexpr Value Int(int64_t i) {
    Value v(Kind::kInt, 0);
    v.int_ = i;
    return v;
  }
  // Becomes a kInt when it is an integer within +-2^53.
  static Value Double(double d);
  // `spelling` is a valid JSON number.
  static Value Literal(std::string_view spelling) { return Text(Kind::kLiteral, spelling, 0); }
  // `text` is UTF-8. Strings longer than 4 GiB do not exist here: texts of records are shorter.
  static Value String(std::string_view text) { return Text(Kind::kString, text, 0); }
  // `content` is what stands between the quotes in JSON, to be printed as it is; `escaped` says
  // whether it may contain a backslash.
  static Value Spelled(std::string_view content, bool escaped) {
    return Text(Kind::kString, content, escaped ? kEscaped | kVerbatim : kVerbatim);
  }
  static Value Of(const Array* array) {
    Value v(Kind::kArray, 0);
    v.array_ = array;
    return v;
  }
  static Value Of(const Object* object) {
    Value v(Kind::kObject, 0);
    v.object_ = object;
    return v;
  }
  // The value at a node; scalars become values of their own. json::kNoNode gives null. `document`
  // must outlive the value.
  static Value Of(const json::Document& document, json::Node n);
  static constexpr Value Error() { return Value(Kind::kError, 0); }

  Kind kind() const { return kind_; }
  Type type() const;
  bool is_error() const { return kind_ == Kind::kError; }
  bool is_number() const { return kind_ >= Kind::kInt && kind_ <= Kind::kLiteral; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return type() == Type::kArray; }
  bool is_object() const { return type() == Type::kObject; }
  // Neither false nor null: what jq calls true.
  bool truthy() const { return kind_ > Kind::kFalse; }

  int64_t as_int() const { return int_; }
  double as_double() const { return double_; }
  // The spelling of a kLiteral; of a kString the text, or the JSON content when escaped().
  std::string_view raw() const { return {text_, size_}; }
  bool escaped() const { return (flags_ & kEscaped) != 0; }
  bool verbatim() const { return (flags_ & kVerbatim) != 0; }
  const json::Document& document() const { return *document_; }
  json::Node node() const { return size_; }
  const Array& array() const { return *array_; }
  const Object& object() const { return *object_; }

 private:
  static constexpr uint8_t kEscaped = 1;   // raw() has JSON escapes
  static constexpr uint8_t kVerbatim = 2;  // raw() can be printed between quotes as it is

  constexpr Value(Kind kind, uint8_t flags) : int_(0), kind_(kind), flags_(flags) {}
  static Value Text(Kind kind, std::string_view text, uint8_t flags) {
    Value v(kind, flags);
    v.text_ = text.data();
    v.size_ = static_cast<uint32_t>(text.size());
    return v;
  }

  union {
    int64_t int_;
    double double_;
    const char* text_;
    const json::Document* document_;
    const Array* array_;
    const Object* object_;
  };
  uint32_t size_ = 0;  // bytes of text, or the node
  Kind kind_ = Kind::kNull;
  uint8_t flags_ = 0;
  // Without it a copy is of 14 bytes, made by two moves that overlap, and whoever reads the copy
  // waits until both have left the store buffer.
  [[maybe_unused]] uint16_t padding_ = 0;
};
static_assert(sizeof(Value) == 16);

// Built containers never change once a Value points to them.
struct Array {
  uint32_t size;
  uint64_t weight;  // about the bytes it prints as
  const Value* items;

  const Value* begin() const { return items; }
  const Value* end() const { return items + size; }
};

// Members in the order of insertion, each name once.
struct Object {
  struct Member {
    Value name;  // a kString without escapes
    Value value;
  };
  uint32_t size;
  uint32_t mask;    // of `index`; 0: no index, search the members
  uint64_t weight;  // about the bytes it prints as
  const Member* members;
  const uint32_t* index;  // open addressing over the hash of names: member + 1, 0 is free

  const Member* begin() const { return members; }
  const Member* end() const { return members + size; }
};

// Builds an Array item by item. Build() makes the arena overflow when the result is too large.
class ArrayBuilder {
 public:
  explicit ArrayBuilder(Arena* arena) : arena_(arena) {}
  void Reserve(size_t n);
  void Add(Value v) {
    if (size_ == capacity_) Reserve(size_ == 0 ? 8 : size_t{2} * size_);
    items_[size_++] = v;
  }
  uint32_t size() const { return size_; }
  Value* items() { return items_; }
  Value Build();

 private:
  Arena* arena_;
  Value* items_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
};

// Builds an Object: a name that is there already keeps its place and takes the new value.
class ObjectBuilder {
 public:
  explicit ObjectBuilder(Arena* arena) : arena_(arena) {}
  void Reserve(size_t n);
  void Set(Value name, Value value);
  // For names known to be new, without escapes.
  void Append(Value name, Value value);
  Value Build();

 private:
  void Index();

  Arena* arena_;
  Object::Member* members_ = nullptr;
  uint32_t* index_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  uint32_t mask_ = 0;
};

// --- reading values, whatever their kind ---

// The UTF-8 text of a string; resolved in `arena` when it has escapes.
std::string_view TextOf(Value string, Arena* arena);
// Items of an array / members of an object (each name once, the last value), made in `arena` when
// the value is still a node.
const Array& ItemsOf(Value array, Arena* arena);
const Object& MembersOf(Value object, Arena* arena);
// Member `name` (UTF-8 text) of an object: null when it is missing; *found may be null.
Value FieldOf(Value object, std::string_view name, bool* found = nullptr);
// Item i of an array, counted from the end when negative; null when there is none.
Value ItemOf(Value array, int64_t i);
uint32_t LengthOf(Value array);

// jq's order of all values: <0, 0, >0. Numbers compare by their exact values (expr/number.h).
int Compare(Value a, Value b, Arena* arena);
bool Equal(Value a, Value b, Arena* arena);

// Appends compact JSON; spellings stay. Never writes what is not JSON: NaN becomes null, infinities
// the largest double, as in jq.
void AppendJson(Value v, std::string* out);

// "null" "boolean" "number" "string" "array" "object"
std::string_view TypeName(Value v);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_VALUE_H_
