// Columns of values. What they keep is JSON text as the expression gave it, so a literal passes
// unchanged however large; in a state it stands as {"<function>": value}, which tells one function
// from another.
#include "dsl/value_columns.h"

#include <utility>

#include "dsl/canonical.h"

namespace kstream::dsl {
namespace {

using expr::Value;
using Texts = Accumulator::Texts;

Texts* TextsOf(Accumulator* now) {
  if (!now->texts) now->texts = std::make_unique<Texts>();
  return now->texts.get();
}

void AppendMember(std::string_view name, std::string_view value, std::string* json) {
  json->append("{\"").append(name).append("\":").append(value).append("}");
}

json::Node MemberOf(const json::Document& document, json::Node state, std::string_view name) {
  return document.type(state) == json::Type::kObject ? document.Find(state, name) : json::kNoNode;
}

// One value of the group, or none.
class OneOf : public Column {
 public:
  OneOf(std::string name, std::string_view function, Argument argument)
      : Column(std::move(name)), function_(function), argument_(std::move(argument)) {}

  Status Read(const Record& record) final { return argument_.Read(record); }
  size_t Apply(Accumulator* now) final { return takes_ ? Keep(argument_.json(), now) : 0; }
  Status Merge(const Accumulator& later, Accumulator* now) final {
    if (!later.texts) return Status::Ok();
    const std::string& text = later.texts->text;
    if (now->texts) {
      KSTREAM_ASSIGN_OR_RETURN(const bool wins, Wins(text, now->texts->text));
      if (!wins) return Status::Ok();
    }
    Keep(text, now);
    return Status::Ok();
  }

  void AppendResult(const Accumulator& now, std::string* json) const final {
    json->append(now.texts ? std::string_view(now.texts->text) : "null");
  }
  void AppendState(const Accumulator& now, std::string* json) const final {
    AppendMember(function_, now.texts ? std::string_view(now.texts->text) : "null", json);
  }
  bool Restore(const json::Document& document, json::Node state, Accumulator* now) final {
    const json::Node value = MemberOf(document, state, function_);
    if (value == json::kNoNode || !Fits(document.type(value))) return false;
    if (document.type(value) == json::Type::kNull) return true;
    json::AppendCompact(document, value, &TextsOf(now)->text);
    return true;
  }

 protected:
  virtual bool Fits(json::Type) const { return true; }
  // Whether a later value takes the place of the one that is held. kData: they do not go together.
  virtual Result<bool> Wins(std::string_view later, std::string_view held) = 0;

  static size_t Keep(std::string_view json, Accumulator* now) {
    const bool fresh = !now->texts;
    std::string& text = TextsOf(now)->text;
    const size_t before = fresh ? 0 : text.capacity();
    text = json;
    const size_t after = text.capacity() + (fresh ? sizeof(Texts) : 0);
    return after > before ? after - before : 0;
  }

  const std::string_view function_;
  Argument argument_;
  bool takes_ = false;
};

class ExtremeOf final : public OneOf {
 public:
  ExtremeOf(std::string name, Argument argument, Extreme which)
      : OneOf(std::move(name), which == Extreme::kMin ? "min" : "max", std::move(argument)),
        sign_(which == Extreme::kMin ? -1 : 1) {}

  Status Prepare(const Record&, const Accumulator& now) override {
    takes_ = false;
    if (argument_.is_null()) return Status::Ok();
    if (!argument_.is_number() && !argument_.is_string()) {
      return argument_.Refuse("numbers or strings");
    }
    if (!now.texts) {
      takes_ = true;
      return Status::Ok();
    }
    const std::string& held = now.texts->text;
    if ((held[0] == '"') != argument_.is_string()) {
      return argument_.Refuse(held[0] == '"' ? "strings in this group, not numbers too"
                                             : "numbers in this group, not strings too");
    }
    takes_ = Beats(argument_.json(), held);
    return Status::Ok();
  }

 private:
  Result<bool> Wins(std::string_view later, std::string_view held) override {
    if ((held[0] == '"') == (later[0] == '"')) return Beats(later, held);
    return argument_.Bad(
        fmt::format("takes numbers or strings in a group, not both, and got {} and {}",
                    Argument::Shown(held), Argument::Shown(later)));
  }
  bool Beats(std::string_view later, std::string_view held) {
    arena_.Reset();
    return expr::Compare(Parsed(later), Parsed(held), &arena_) * sign_ > 0;
  }
  // A number or a string that is known to be valid needs no parsing.
  static Value Parsed(std::string_view json) {
    if (json[0] != '"') return Value::Literal(json);
    return Value::Spelled(json.substr(1, json.size() - 2), json.find('\\') != json.npos);
  }
  bool Fits(json::Type type) const override {
    return type == json::Type::kNumber || type == json::Type::kString || type == json::Type::kNull;
  }

  const int sign_;
  expr::Arena arena_;
};

class EdgeOf final : public OneOf {
 public:
  EdgeOf(std::string name, Argument argument, Edge which)
      : OneOf(std::move(name), which == Edge::kFirst ? "first" : "last", std::move(argument)),
        which_(which) {}

  Status Prepare(const Record&, const Accumulator& now) override {
    takes_ = !argument_.is_null() && (which_ == Edge::kLast || !now.texts);
    return Status::Ok();
  }

 private:
  Result<bool> Wins(std::string_view, std::string_view) override { return which_ == Edge::kLast; }

  const Edge which_;
};

// Puts one more item behind those that are there, or several with commas between.
size_t AppendItem(std::string_view item, Accumulator* now, int64_t items = 1) {
  const size_t before = now->texts ? now->texts->text.capacity() : 0;
  const size_t fresh = now->texts ? 0 : sizeof(Texts);
  std::string& text = TextsOf(now)->text;
  if (!text.empty()) text.push_back(',');
  text.append(item);
  now->count += items;
  return text.capacity() - before + fresh;
}

std::string ArrayOf(const Accumulator& now) {
  return now.texts ? "[" + now.texts->text + "]" : "[]";
}

class Collect final : public Column {
 public:
  Collect(std::string name, Argument argument)
      : Column(std::move(name)), argument_(std::move(argument)) {}

  Status Read(const Record& record) override { return argument_.Read(record); }
  Status Prepare(const Record&, const Accumulator&) override { return Status::Ok(); }
  size_t Apply(Accumulator* now) override { return AppendItem(argument_.json(), now); }
  Status Merge(const Accumulator& later, Accumulator* now) override {
    if (later.texts) AppendItem(later.texts->text, now, later.count);
    return Status::Ok();
  }

  void AppendResult(const Accumulator& now, std::string* json) const override {
    // All of a group were taken, nulls too: there is no group without an item.
    json->append(ArrayOf(now));
  }
  void AppendState(const Accumulator& now, std::string* json) const override {
    AppendMember("collect", ArrayOf(now), json);
  }
  bool Restore(const json::Document& document, json::Node state, Accumulator* now) override {
    const json::Node array = MemberOf(document, state, "collect");
    if (array == json::kNoNode || document.type(array) != json::Type::kArray) return false;
    std::string item;
    for (json::Node n = document.First(array); n != json::kNoNode; n = document.Next(n)) {
      item.clear();
      json::AppendCompact(document, n, &item);
      AppendItem(item, now);
    }
    return true;
  }

 private:
  Argument argument_;
};

// Different values, by first arrival.
class Set final : public Column {
 public:
  Set(std::string name, Argument argument, SetResult result)
      : Column(std::move(name)),
        function_(result == SetResult::kSize ? "distinct" : "collect_set"),
        argument_(std::move(argument)),
        result_(result) {}

  Status Read(const Record& record) override {
    KSTREAM_RETURN_IF_ERROR(argument_.Read(record));
    ignored_ = argument_.is_null();
    if (!ignored_) canonical_text_ = canonical_.Of(argument_.json());
    return Status::Ok();
  }
  Status Prepare(const Record&, const Accumulator& now) override {
    takes_ = !ignored_ && (!now.texts || !now.texts->seen.contains(canonical_text_));
    return Status::Ok();
  }
  size_t Apply(Accumulator* now) override {
    return takes_ ? Take(argument_.json(), canonical_text_, now) : 0;
  }
  Status Merge(const Accumulator& later, Accumulator* now) override {
    if (!later.texts) return Status::Ok();
    json::Document document;
    const std::string array = ArrayOf(later);
    KSTREAM_RETURN_IF_ERROR(reader_.Parse(array, &document));
    TakeNew(document, document.root(), now);
    return Status::Ok();
  }

  void AppendResult(const Accumulator& now, std::string* json) const override {
    if (now.count == 0) {
      json->append("null");
    } else {
      json->append(result_ == SetResult::kSize ? std::to_string(now.count) : ArrayOf(now));
    }
  }
  void AppendState(const Accumulator& now, std::string* json) const override {
    AppendMember(function_, ArrayOf(now), json);
  }
  bool Restore(const json::Document& document, json::Node state, Accumulator* now) override {
    const json::Node array = MemberOf(document, state, function_);
    if (array == json::kNoNode || document.type(array) != json::Type::kArray) return false;
    TakeNew(document, array, now);
    return true;
  }

 private:
  // Those items of an array that are not there yet.
  void TakeNew(const json::Document& document, json::Node array, Accumulator* now) {
    std::string item;
    for (json::Node n = document.First(array); n != json::kNoNode; n = document.Next(n)) {
      item.clear();
      json::AppendCompact(document, n, &item);
      const std::string& canonical = canonical_.Of(item);
      if (!now->texts || !now->texts->seen.contains(canonical)) Take(item, canonical, now);
    }
  }
  static size_t Take(std::string_view item, const std::string& canonical, Accumulator* now) {
    const size_t grown = AppendItem(item, now);
    now->texts->seen.insert(canonical);
    return grown + canonical.size() + kNode;
  }
  static constexpr size_t kNode = 64;  // of a hash set, about

  const std::string_view function_;
  Argument argument_;
  const SetResult result_;
  Canonical canonical_;
  json::Reader reader_;
  std::string canonical_text_;  // of the argument
  bool ignored_ = false, takes_ = false;
};

}  // namespace

std::unique_ptr<Column> NewExtreme(std::string name, Argument argument, Extreme which) {
  return std::make_unique<ExtremeOf>(std::move(name), std::move(argument), which);
}

std::unique_ptr<Column> NewEdge(std::string name, Argument argument, Edge which) {
  return std::make_unique<EdgeOf>(std::move(name), std::move(argument), which);
}

std::unique_ptr<Column> NewCollect(std::string name, Argument argument) {
  return std::make_unique<Collect>(std::move(name), std::move(argument));
}

std::unique_ptr<Column> NewSet(std::string name, Argument argument, SetResult result) {
  return std::make_unique<Set>(std::move(name), std::move(argument), result);
}

}  // namespace kstream::dsl
