#include "dsl/fold_columns.h"

#include <optional>
#include <string>
#include <utility>

#include "dsl/operator.h"

namespace kstream::dsl {
namespace {

// An expression of which exactly one value is wanted: one that gave nothing would lose what was
// folded so far.
class Step {
 public:
  Step(std::string what, const Expression& expression, const Serdes& serdes)
      : what_(std::move(what)), evaluator_(expression.program(), serdes) {}

  Status Eval(const Record& record, std::string_view acc, std::string* result) {
    const expr::Input input{.record = &record, .out = {}, .left = {}, .right = {}, .acc = acc};
    int outputs = 0;
    Status status = evaluator_.ForEach(input, [&](std::string_view json) {
      if (outputs++ > 0) return Status::Data("gives more than one value");
      *result = json;
      return Status::Ok();
    });
    if (status.ok() && outputs == 0) status = Status::Data("gives no value");
    return status.At(what_);
  }

 private:
  std::string what_;
  expr::Evaluator evaluator_;
};

// Keeps one text, and makes the next one of it.
class Folding : public Column {
 public:
  using Column::Column;

  // What it adds depends on the row.
  Status Read(const Record&) final { return Status::Ok(); }
  size_t Apply(Accumulator* now) final {
    const bool fresh = !now->texts;
    if (fresh) now->texts = std::make_unique<Accumulator::Texts>();
    const size_t before = fresh ? 0 : now->texts->text.capacity();
    now->texts->text.swap(next_);
    now->texts->none = none_;
    const size_t after = now->texts->text.capacity() + (fresh ? sizeof(Accumulator::Texts) : 0);
    return after > before ? after - before : 0;
  }

  void ApplyOut(Accumulator* now) final { Apply(now); }

  Status Merge(const Accumulator& later, Accumulator* now) final {
    if (!HasValue(later)) return Status::Ok();
    if (HasValue(*now)) {
      KSTREAM_RETURN_IF_ERROR(PrepareMerge(AccOf(later), *now));
    } else {
      next_ = AccOf(later);
      none_ = false;
    }
    Apply(now);
    return Status::Ok();
  }

  void AppendResult(const Accumulator& now, std::string* text) const final {
    if (now.texts) text->append(now.texts->text);
  }
  void AppendState(const Accumulator& now, std::string* json) const override {
    json->append("{\"fold\":");
    AppendResult(now, json);
    json->push_back('}');
  }
  bool Restore(const json::Document& document, json::Node state, Accumulator* now) override {
    if (document.type(state) != json::Type::kObject) return false;
    const json::Node value = document.Find(state, "fold");
    if (value == json::kNoNode) return false;
    now->texts = std::make_unique<Accumulator::Texts>();
    json::AppendCompact(document, value, &now->texts->text);
    return true;
  }

 protected:
  // What would be folded a second time is not known any more, unless there is a rule for that.
  virtual Status PrepareMerge(std::string_view, const Accumulator&) {
    return Status::Usage("a fold cannot be merged");
  }
  static std::string_view AccOf(const Accumulator& now) { return now.texts->text; }
  static bool HasValue(const Accumulator& now) { return now.texts && !now.texts->none; }
  // A value that is folded in as if it were a record's.
  static Record RecordOf(std::string_view value) {
    Record record;
    record.value = value;
    return record;
  }

  std::string next_;
  bool none_ = false;  // next_ stands for null
};

class Fold final : public Folding {
 public:
  Fold(const FoldSpec& spec, const Serdes& serdes)
      : Folding(spec.name), init_("--init", spec.init, serdes), add_("--add", spec.add, serdes) {
    if (spec.sub) sub_.emplace("--sub", *spec.sub, serdes);
  }

  Status Prepare(const Record& record, const Accumulator& now) override {
    if (now.texts) return add_.Eval(record, AccOf(now), &next_);
    KSTREAM_RETURN_IF_ERROR(init_.Eval(record, {}, &first_));
    return add_.Eval(record, first_, &next_);
  }
  kstream::Result<bool> PrepareOut(const Record& record, const Accumulator& now) override {
    if (!now.texts) return false;
    KSTREAM_RETURN_IF_ERROR(sub_->Eval(record, AccOf(now), &next_));
    return true;
  }

 private:
  Step init_, add_;
  std::optional<Step> sub_;
  std::string first_;
};

class ReduceBy final : public Folding {
 public:
  ReduceBy(const Expression& add, const std::optional<Expression>& sub, const Serdes& serdes)
      : Folding(""), value_serde_(serdes.value), add_("the reducer", add, serdes) {
    if (sub) sub_.emplace("the subtractor", *sub, serdes);
  }

  Status Prepare(const Record& record, const Accumulator& now) override {
    if (now.texts) return Make(&add_, record, now);
    next_ = *record.value;
    return Status::Ok();
  }
  kstream::Result<bool> PrepareOut(const Record& record, const Accumulator& now) override {
    if (!now.texts) return false;
    KSTREAM_RETURN_IF_ERROR(Make(&*sub_, record, now));
    return true;
  }
  Status PrepareMerge(std::string_view later, const Accumulator& now) override {
    return Make(&add_, RecordOf(later), now);
  }

 private:
  Status Make(Step* step, const Record& record, const Accumulator& now) {
    acc_.clear();
    KSTREAM_RETURN_IF_ERROR(value_serde_.ToJson(AccOf(now), &acc_));
    KSTREAM_RETURN_IF_ERROR(step->Eval(record, acc_, &json_));
    next_.clear();
    return value_serde_.FromJson(json_, &next_);
  }

  Serde value_serde_;
  Step add_;
  std::optional<Step> sub_;
  std::string acc_, json_;
};

// By a function: what it gives is the next value, and null is none.
class ByFunction : public Folding {
 public:
  explicit ByFunction(bool adds_up) : Folding(""), adds_up_(adds_up) {}

 protected:
  Status Take(const MadeBytes& made) {
    if (!made.ok()) return WhyNone(made);
    if (adds_up_ && !made->has_value()) {
      return Status::Data("the function gave null: a session, and a sliding window, has a value");
    }
    none_ = !made->has_value();
    next_ = made->value_or("");
    return Status::Ok();
  }

 private:
  const bool adds_up_;
};

class ReduceByFunction final : public ByFunction {
 public:
  ReduceByFunction(Reducer reducer, Reducer undo, bool adds_up)
      : ByFunction(adds_up), reducer_(std::move(reducer)), undo_(std::move(undo)) {}

  Status Prepare(const Record& record, const Accumulator& now) override {
    if (HasValue(now)) return Take(reducer_(AccOf(now), record));
    next_ = *record.value;
    none_ = false;
    return Status::Ok();
  }
  kstream::Result<bool> PrepareOut(const Record& record, const Accumulator& now) override {
    if (!HasValue(now)) return false;
    KSTREAM_RETURN_IF_ERROR(Take(undo_(AccOf(now), record)));
    return true;
  }
  Status PrepareMerge(std::string_view later, const Accumulator& now) override {
    return Take(reducer_(AccOf(now), RecordOf(later)));
  }

 private:
  const Reducer reducer_, undo_;
};

class FoldByFunctions final : public ByFunction {
 public:
  FoldByFunctions(Initializer init, Aggregator add, Aggregator undo, Merger merger)
      : ByFunction(merger != nullptr),
        init_(std::move(init)),
        add_(std::move(add)),
        undo_(std::move(undo)),
        merger_(std::move(merger)) {}

  Status Prepare(const Record& record, const Accumulator& now) override {
    if (HasValue(now)) return Take(add_(record, AccOf(now)));
    const std::string first = init_();
    return Take(add_(record, first));
  }
  kstream::Result<bool> PrepareOut(const Record& record, const Accumulator& now) override {
    if (!HasValue(now)) return false;
    KSTREAM_RETURN_IF_ERROR(Take(undo_(record, AccOf(now))));
    return true;
  }
  Status PrepareMerge(std::string_view later, const Accumulator& now) override {
    return Take(merger_(AccOf(now), later));
  }

 private:
  const Initializer init_;
  const Aggregator add_, undo_;
  const Merger merger_;
};

}  // namespace

std::unique_ptr<Column> NewFold(const FoldSpec& fold, const Serdes& serdes) {
  return std::make_unique<Fold>(fold, serdes);
}

std::unique_ptr<Column> NewReduce(const Expression& add, const std::optional<Expression>& sub,
                                  const Serdes& serdes) {
  return std::make_unique<ReduceBy>(add, sub, serdes);
}

std::unique_ptr<Column> NewReduceBy(const Reducer& reducer, const Reducer& undo, bool adds_up) {
  return std::make_unique<ReduceByFunction>(reducer, undo, adds_up);
}

std::unique_ptr<Column> NewFoldBy(const Initializer& init, const Aggregator& add,
                                  const Aggregator& undo, const Merger& merger) {
  return std::make_unique<FoldByFunctions>(init, add, undo, merger);
}

}  // namespace kstream::dsl
