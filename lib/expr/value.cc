#include "expr/value.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "expr/number.h"
#include "expr/text.h"

namespace kstream::expr {
namespace {

constexpr size_t kFirstBlock = 16 << 10;
constexpr size_t kKeep = 4 << 20;    // a larger arena is given back between records
constexpr uint32_t kUnindexed = 12;  // objects up to this size are searched
constexpr uint64_t kScalarWeight = 16;

// About how many bytes a value prints as. Built values share what they hold, so one that is small
// in memory can be huge when walked; the weight keeps that within the Arena's limit.
uint64_t WeightOf(Value v) {
  switch (v.kind()) {
    case Value::Kind::kString:
    case Value::Kind::kLiteral:
      return v.raw().size() + 2;
    case Value::Kind::kNode:
      return v.document().Raw(v.node()).size();
    case Value::Kind::kArray:
      return v.array().weight;
    case Value::Kind::kObject:
      return v.object().weight;
    default:
      return kScalarWeight;
  }
}

uint32_t HashOf(std::string_view name) {
  return static_cast<uint32_t>(std::hash<std::string_view>()(name));
}

// Position of `name` among the members, or -1.
int64_t FindMember(const Object::Member* members, uint32_t size, const uint32_t* index,
                   uint32_t mask, std::string_view name) {
  if (mask == 0) {
    for (uint32_t i = 0; i < size; ++i) {
      if (members[i].name.raw() == name) return i;
    }
    return -1;
  }
  for (uint32_t slot = HashOf(name) & mask; index[slot] != 0; slot = (slot + 1) & mask) {
    if (members[index[slot] - 1].name.raw() == name) return index[slot] - 1;
  }
  return -1;
}

// Names of built objects have no escapes, so that they compare by bytes.
Value PlainName(Value name, Arena* arena) {
  return name.escaped() ? Value::String(TextOf(name, arena)) : name;
}

Value NameAt(const json::Document& document, json::Node n, Arena* arena) {
  return PlainName(Value::Of(document, n), arena);
}

void AppendString(Value v, std::string* out) {
  if (!v.verbatim()) {
    json::AppendQuoted(v.raw(), out);
    return;
  }
  out->push_back('"');
  out->append(v.raw());
  out->push_back('"');
}

}  // namespace

std::string_view Arena::Copy(std::string_view text) {
  char* copy = static_cast<char*>(Allocate(text.size()));
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

void* Arena::AllocateSlow(size_t bytes) {
  const size_t grown = blocks_.empty() ? kFirstBlock : blocks_.back().size * 2;
  const size_t size = std::max(bytes, std::min<size_t>(grown, kKeep));
  blocks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
  used_ += size;
  next_ = blocks_.back().data.get();
  end_ = next_ + size;
  return Allocate(bytes);
}

// Keeps the last, usually the largest, block.
void Arena::ResetBlocks() {
  used_ = 0;
  if (blocks_.empty()) return;
  if (blocks_.size() > 1) {
    blocks_.front() = std::move(blocks_.back());
    blocks_.resize(1);
  }
  if (blocks_[0].size > kKeep) {
    blocks_.clear();
    next_ = end_ = nullptr;
    return;
  }
  used_ = blocks_[0].size;
  next_ = blocks_[0].data.get();
  end_ = next_ + blocks_[0].size;
}

Value Value::Double(double d) {
  constexpr double kMax = 9007199254740992.0;
  if (d >= -kMax && d <= kMax) {
    const auto i = static_cast<int64_t>(d);
    if (static_cast<double>(i) == d && (i != 0 || !std::signbit(d))) return Int(i);
  }
  Value v(Kind::kDouble, 0);
  v.double_ = d;
  return v;
}

Value Value::Of(const json::Document& document, json::Node n) {
  if (n == json::kNoNode) return Null();
  switch (document.type(n)) {
    case json::Type::kNull:
      return Null();
    case json::Type::kFalse:
      return Bool(false);
    case json::Type::kTrue:
      return Bool(true);
    case json::Type::kNumber:
      return Literal(document.Raw(n));
    case json::Type::kString: {
      const std::string_view content = document.StringContent(n);
      const bool escaped =
          document.may_have_escapes() && content.find('\\') != std::string_view::npos;
      return Spelled(content, escaped);
    }
    case json::Type::kArray:
    case json::Type::kObject:
      break;
  }
  Value v(Kind::kNode, 0);
  v.document_ = &document;
  v.size_ = n;
  return v;
}

Type Value::type() const {
  switch (kind_) {
    case Kind::kFalse:
      return Type::kFalse;
    case Kind::kTrue:
      return Type::kTrue;
    case Kind::kInt:
    case Kind::kDouble:
    case Kind::kLiteral:
      return Type::kNumber;
    case Kind::kString:
      return Type::kString;
    case Kind::kNode:
      return document_->type(size_) == json::Type::kArray ? Type::kArray : Type::kObject;
    case Kind::kArray:
      return Type::kArray;
    case Kind::kObject:
      return Type::kObject;
    case Kind::kNull:
    case Kind::kError:
      break;
  }
  return Type::kNull;
}

void ArrayBuilder::Reserve(size_t n) {
  if (n <= capacity_) return;
  Value* items = arena_->AllocateArray<Value>(n);
  std::copy_n(items_, size_, items);
  items_ = items;
  capacity_ = static_cast<uint32_t>(n);
}

Value ArrayBuilder::Build() {
  uint64_t weight = 2;
  for (uint32_t i = 0; i < size_; ++i) weight += WeightOf(items_[i]);
  if (weight > Arena::kLimit) arena_->Overflow();
  return Value::Of(new (arena_->Allocate(sizeof(Array))) Array{size_, weight, items_});
}

void ObjectBuilder::Reserve(size_t n) {
  if (n <= capacity_) return;
  auto* members = arena_->AllocateArray<Object::Member>(n);
  std::copy_n(members_, size_, members);
  members_ = members;
  capacity_ = static_cast<uint32_t>(n);
}

void ObjectBuilder::Set(Value name, Value value) {
  name = PlainName(name, arena_);
  const int64_t at = FindMember(members_, size_, index_, mask_, name.raw());
  if (at >= 0) {
    members_[at].value = value;
    return;
  }
  Append(name, value);
}

void ObjectBuilder::Append(Value name, Value value) {
  if (size_ == capacity_) Reserve(size_ == 0 ? 4 : size_t{2} * size_);
  members_[size_++] = {name, value};
  if (size_ <= kUnindexed) return;
  if (mask_ == 0 || size_ * 2 > mask_) {
    Index();
    return;
  }
  uint32_t slot = HashOf(name.raw()) & mask_;
  while (index_[slot] != 0) slot = (slot + 1) & mask_;
  index_[slot] = size_;
}

void ObjectBuilder::Index() {
  uint32_t slots = 64;
  while (slots < size_ * 4) slots *= 2;
  mask_ = slots - 1;
  index_ = arena_->AllocateArray<uint32_t>(slots);
  std::fill_n(index_, slots, 0);
  for (uint32_t i = 0; i < size_; ++i) {
    uint32_t slot = HashOf(members_[i].name.raw()) & mask_;
    while (index_[slot] != 0) slot = (slot + 1) & mask_;
    index_[slot] = i + 1;
  }
}

Value ObjectBuilder::Build() {
  uint64_t weight = 2;
  for (uint32_t i = 0; i < size_; ++i) {
    weight += WeightOf(members_[i].name) + WeightOf(members_[i].value);
  }
  if (weight > Arena::kLimit) arena_->Overflow();
  return Value::Of(new (arena_->Allocate(sizeof(Object)))
                       Object{size_, mask_, weight, members_, index_});
}

std::string_view TextOf(Value string, Arena* arena) {
  if (!string.escaped()) return string.raw();
  std::string text;
  json::Unescape(string.raw(), &text);
  return arena->Copy(text);
}

const Array& ItemsOf(Value v, Arena* arena) {
  if (v.kind() == Value::Kind::kArray) return v.array();
  const json::Document& document = v.document();
  ArrayBuilder items(arena);
  for (json::Node n = document.First(v.node()); n != json::kNoNode; n = document.Next(n)) {
    items.Add(Value::Of(document, n));
  }
  return items.Build().array();
}

const Object& MembersOf(Value v, Arena* arena) {
  if (v.kind() == Value::Kind::kObject) return v.object();
  const json::Document& document = v.document();
  ObjectBuilder members(arena);
  for (json::Node n = document.First(v.node()); n != json::kNoNode;) {
    const json::Node value = document.ValueOf(n);
    members.Set(NameAt(document, n, arena), Value::Of(document, value));
    n = document.Next(value);
  }
  return members.Build().object();
}

Value FieldOf(Value v, std::string_view name, bool* found) {
  if (v.kind() == Value::Kind::kNode) {
    const json::Node n = v.document().Find(v.node(), name);
    if (found != nullptr) *found = n != json::kNoNode;
    return Value::Of(v.document(), n);
  }
  const Object& object = v.object();
  const int64_t at = FindMember(object.members, object.size, object.index, object.mask, name);
  if (found != nullptr) *found = at >= 0;
  return at < 0 ? Value::Null() : object.members[at].value;
}

Value ItemOf(Value v, int64_t i) {
  if (i < 0) {
    i += LengthOf(v);
    if (i < 0) return Value::Null();
  }
  if (v.kind() == Value::Kind::kNode) {
    return Value::Of(v.document(), v.document().At(v.node(), static_cast<size_t>(i)));
  }
  return i < v.array().size ? v.array().items[i] : Value::Null();
}

uint32_t LengthOf(Value v) {
  if (v.kind() == Value::Kind::kArray) return v.array().size;
  const json::Document& document = v.document();
  uint32_t n = 0;
  for (json::Node i = document.First(v.node()); i != json::kNoNode; i = document.Next(i)) ++n;
  return n;
}

void AppendJson(Value v, std::string* out) {
  switch (v.kind()) {
    case Value::Kind::kNull:
    case Value::Kind::kError:
      out->append("null");
      break;
    case Value::Kind::kFalse:
      out->append("false");
      break;
    case Value::Kind::kTrue:
      out->append("true");
      break;
    case Value::Kind::kInt:
      AppendInt(v.as_int(), out);
      break;
    case Value::Kind::kDouble:
      AppendDouble(v.as_double(), out);
      break;
    case Value::Kind::kLiteral:
      out->append(v.raw());
      break;
    case Value::Kind::kString:
      AppendString(v, out);
      break;
    case Value::Kind::kNode:
      json::AppendCompact(v.document(), v.node(), out);
      break;
    case Value::Kind::kArray:
      out->push_back('[');
      for (uint32_t i = 0; i < v.array().size; ++i) {
        if (i != 0) out->push_back(',');
        AppendJson(v.array().items[i], out);
      }
      out->push_back(']');
      break;
    case Value::Kind::kObject:
      out->push_back('{');
      for (uint32_t i = 0; i < v.object().size; ++i) {
        if (i != 0) out->push_back(',');
        AppendString(v.object().members[i].name, out);
        out->push_back(':');
        AppendJson(v.object().members[i].value, out);
      }
      out->push_back('}');
      break;
  }
}

std::string_view TypeName(Value v) {
  switch (v.type()) {
    case Type::kNull:
      return "null";
    case Type::kFalse:
    case Type::kTrue:
      return "boolean";
    case Type::kNumber:
      return "number";
    case Type::kString:
      return "string";
    case Type::kArray:
      return "array";
    case Type::kObject:
      return "object";
  }
  return "null";
}

}  // namespace kstream::expr
