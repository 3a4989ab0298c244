#include "dsl/bag_column.h"

#include <algorithm>
#include <utility>

#include "expr/number.h"

namespace kstream::dsl {
namespace {

using expr::Value;
using Kind = AggregateFunction::Kind;
using Items = std::vector<BagItem>;

// The value of a valid compact text; only containers are parsed, and live until the next call.
class Reading {
 public:
  Value Of(std::string_view json) {
    switch (json[0]) {
      case '"':
        return Value::Spelled(json.substr(1, json.size() - 2), json.find('\\') != json.npos);
      case 'n':
        return Value::Null();
      case 't':
      case 'f':
        return Value::Bool(json[0] == 't');
      case '[':
      case '{':
        // What an expression gave is valid.
        return reader_.Parse(json, &document_).ok() ? Value::Of(document_, document_.root())
                                                    : Value::Null();
      default:
        return Value::Literal(json);
    }
  }

 private:
  json::Reader reader_;
  json::Document document_;
};

class Bag final : public Column {
 public:
  Bag(std::string name, Argument argument, Kind kind)
      : Column(std::move(name)), argument_(std::move(argument)), kind_(kind) {}

  Status Read(const Record& record) override {
    KSTREAM_RETURN_IF_ERROR(argument_.Read(record));
    ignored_ = argument_.is_null() && kind_ != Kind::kCollect;
    const bool fits = argument_.is_number() || argument_.is_string();
    return ignored_ || fits || !extreme() ? Status::Ok() : argument_.Refuse("numbers or strings");
  }

  Status Prepare(const Record&, const Accumulator& now) override {
    if (ignored_) return Status::Ok();
    if (extreme() && now.texts && !now.texts->bag.empty()) {
      const bool strings = now.texts->bag.front().json[0] == '"';
      if (strings != argument_.is_string()) {
        return argument_.Refuse(strings ? "strings in this group, not numbers too"
                                        : "numbers in this group, not strings too");
      }
    }
    Find(now);
    return Status::Ok();
  }

  size_t Apply(Accumulator* now) override {
    if (ignored_) return 0;
    size_t grown = now->texts ? 0 : sizeof(Accumulator::Texts);
    if (!now->texts) now->texts = std::make_unique<Accumulator::Texts>();
    Items& bag = now->texts->bag;
    if (!found_) {
      grown += sizeof(BagItem) + argument_.json().size();
      bag.insert(bag.begin() + at_, {std::string(argument_.json()), 0});
    }
    bag[static_cast<size_t>(at_)].count++;
    return grown;
  }

  kstream::Result<bool> PrepareOut(const Record&, const Accumulator& now) override {
    if (!ignored_) Find(now);
    return ignored_ || found_;
  }

  void ApplyOut(Accumulator* now) override {
    if (ignored_) return;
    Items& bag = now->texts->bag;
    if (--bag[static_cast<size_t>(at_)].count == 0) bag.erase(bag.begin() + at_);
  }

  Status Merge(const Accumulator&, Accumulator*) override {
    return Status::Usage("a table has no windows that could be merged");
  }

  void AppendResult(const Accumulator& now, std::string* json) const override {
    static const Items kNone;
    const Items& bag = now.texts ? now.texts->bag : kNone;
    if (kind_ == Kind::kCollect) {
      AppendArray(bag, json);
    } else if (bag.empty()) {
      json->append("null");
    } else if (kind_ == Kind::kMin) {
      json->append(bag.front().json);
    } else if (kind_ == Kind::kMax) {
      // Of several spellings the first, as of the smallest.
      json->append(std::prev(bag.end(), Alike(bag, bag.size() - 1))->json);
    } else {
      AppendSet(bag, json);
    }
  }

  void AppendState(const Accumulator& now, std::string* json) const override {
    json->append("{\"bag\":[");
    bool first = true;
    for (const auto& [value, count] : now.texts ? now.texts->bag : Items()) {
      if (!std::exchange(first, false)) json->push_back(',');
      expr::AppendInt(count, &json->append(value).append(","));
    }
    json->append("]}");
  }

  bool Restore(const json::Document& document, json::Node state, Accumulator* now) override {
    if (document.type(state) != json::Type::kObject) return false;
    const json::Node bag = document.Find(state, "bag");
    if (bag == json::kNoNode || document.type(bag) != json::Type::kArray) return false;
    now->texts = std::make_unique<Accumulator::Texts>();
    for (json::Node n = document.First(bag); n != json::kNoNode; n = document.Next(n)) {
      BagItem item;
      json::AppendCompact(document, n, &item.json);
      n = document.Next(n);
      if (n == json::kNoNode || document.type(n) != json::Type::kNumber) return false;
      const expr::Number count = expr::Decode(Value::Literal(document.Raw(n)));
      if (!count.is_int || count.i <= 0) return false;
      item.count = count.i;
      now->texts->bag.push_back(std::move(item));
    }
    return true;
  }

 private:
  bool extreme() const { return kind_ == Kind::kMin || kind_ == Kind::kMax; }

  // Where the argument is in the bag, or would be. Of equal values each spelling has a place.
  void Find(const Accumulator& now) {
    at_ = 0;
    found_ = false;
    if (!now.texts) return;
    arena_.Reset();
    const std::string_view sought = argument_.json();
    const Value value = sought_.Of(sought);
    const Items& bag = now.texts->bag;
    const auto place = std::ranges::partition_point(bag, [&](const BagItem& item) {
      const int order = expr::Compare(item_.Of(item.json), value, &arena_);
      return order != 0 ? order < 0 : item.json < sought;
    });
    at_ = place - bag.begin();
    found_ = place != bag.end() && place->json == sought;
  }

  // How many items up to number `last`, it included, are spellings of its value.
  ptrdiff_t Alike(const Items& bag, size_t last) const {
    arena_.Reset();
    const Value value = sought_.Of(bag[last].json);
    ptrdiff_t alike = 1;
    for (size_t i = last; i-- > 0; alike++) {
      if (expr::Compare(item_.Of(bag[i].json), value, &arena_) != 0) break;
    }
    return alike;
  }

  static void AppendArray(const Items& bag, std::string* json) {
    json->push_back('[');
    bool first = true;
    for (const auto& [value, count] : bag) {
      for (int64_t i = 0; i < count; i++) {
        if (!std::exchange(first, false)) json->push_back(',');
        json->append(value);
      }
    }
    json->push_back(']');
  }

  void AppendSet(const Items& bag, std::string* json) const {
    std::string values;
    int64_t different = 0;
    for (size_t i = 0; i < bag.size(); i++) {
      if (i > 0 && Alike(bag, i) > 1) continue;
      if (different++ > 0) values.push_back(',');
      values.append(bag[i].json);
    }
    if (kind_ == Kind::kDistinct) return expr::AppendInt(different, json);
    json->append("[").append(values).append("]");
  }

  Argument argument_;
  const Kind kind_;
  mutable Reading sought_, item_;
  mutable expr::Arena arena_;
  bool ignored_ = false, found_ = false;
  ptrdiff_t at_ = 0;
};

}  // namespace

bool IsOfValues(Kind kind) {
  return kind == Kind::kMin || kind == Kind::kMax || kind == Kind::kCollect ||
         kind == Kind::kCollectSet || kind == Kind::kDistinct;
}

std::unique_ptr<Column> NewBag(std::string name, Argument argument, Kind kind) {
  return std::make_unique<Bag>(std::move(name), std::move(argument), kind);
}

}  // namespace kstream::dsl
