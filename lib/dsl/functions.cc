// Operators over functions of C++. The functions come from users, so nothing is forwarded before
// they have returned. Tested by tests/unit/dsl/stream_test.cc.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dsl/describe.h"
#include "dsl/group_table.h"
#include "dsl/made_records.h"
#include "dsl/operator.h"
#include "dsl/skips.h"
#include "dsl/suppliers.h"

namespace kstream::dsl {
namespace {

class FunctionFilter final : public Operator {
 public:
  FunctionFilter(Predicate keep, bool negate) : keep_(std::move(keep)), negate_(negate) {}

  Status Process(const Record& record) override {
    const Result<bool> keep = keep_(record);
    if (!keep.ok()) return WhyNone(keep);
    return *keep == negate_ ? Status::Ok() : Forward(record);
  }

 private:
  const Predicate keep_;
  const bool negate_;
};

// How many records a mapper may emit, and whether their keys count.
struct MapperRule {
  bool single = false;
  bool keep_key = false;
};

class FunctionMap final : public Operator {
 public:
  FunctionMap(Mapper mapper, MapperRule rule)
      : mapper_(std::move(mapper)),
        rule_(rule),
        emit_([this](const Record& made) { return made_.Add(made); }) {}

  Status Process(const Record& record) override {
    made_.Begin(record);
    KSTREAM_RETURN_IF_ERROR(mapper_(record, emit_));
    if (made_.too_much()) return TooMuch();  // which the mapper may have ignored
    if (rule_.single && made_.size() != 1) {
      return Status::Data(
          fmt::format("the function emitted {} records instead of one", made_.size()));
    }
    for (size_t i = 0; i < made_.size(); i++) KSTREAM_RETURN_IF_ERROR(ForwardOne(record, i));
    return Status::Ok();
  }

 private:
  Status ForwardOne(const Record& source, size_t i) {
    const Record& made = made_.At(i);
    if (!rule_.keep_key) return Forward(made);
    Record keyed = made;
    keyed.key = source.key;
    return Forward(keyed);
  }

  const Mapper mapper_;
  const MapperRule rule_;
  const Emit emit_;
  MadeRecords made_;
};

class FunctionMapValues final : public Operator {
 public:
  explicit FunctionMapValues(ValueMapper mapper) : mapper_(std::move(mapper)) {}

  Status Process(const Record& record) override {
    const MadeBytes value = mapper_(record);
    if (!value.ok()) return WhyNone(value);
    Record mapped = record;
    mapped.value = *value;
    mapped.cache = cache_.Next(false);
    return Forward(mapped);
  }

 private:
  const ValueMapper mapper_;
  FreshCache cache_;
};

class FunctionSelectKey final : public Operator {
 public:
  explicit FunctionSelectKey(KeySelector selector) : selector_(std::move(selector)) {}

  Status Process(const Record& record) override {
    const MadeBytes key = selector_(record);
    if (!key.ok()) return WhyNone(key);
    Record keyed = record;
    keyed.key = *key;
    keyed.partition_key.reset();
    return Forward(keyed);
  }

 private:
  const KeySelector selector_;
};

// As SelectKey, of records that have a key and a value then.
class FunctionGroupBy final : public Processor {
 public:
  FunctionGroupBy(KeySelector selector, std::shared_ptr<SkipTotals> skips)
      : selector_(std::move(selector)), skips_(std::move(skips)) {}

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return Status::Ok();
  }

  Status Process(const Record& record) override {
    if (!record.value) {
      skips_.NoValue();
      return Status::Ok();
    }
    const MadeBytes key = selector_(record);
    if (!key.ok()) return WhyNone(key);
    if (!*key) {
      skips_.NoKey();
      return Status::Ok();
    }
    Record grouped = record;
    grouped.key = *key;
    grouped.partition_key.reset();
    return context_->Forward(grouped);
  }

  void Close() override { skips_.Tell(context_ ? context_->node() : "group-by"); }

 private:
  const KeySelector selector_;
  Skips skips_;
  ProcessorContext* context_ = nullptr;
};

class FunctionPeek final : public Operator {
 public:
  explicit FunctionPeek(Action action) : action_(std::move(action)) {}

  Status Process(const Record& record) override {
    KSTREAM_RETURN_IF_ERROR(action_(record));
    return Forward(record);
  }

 private:
  const Action action_;
};

class PassingOn final : public Operator {
 public:
  Status Process(const Record& record) override { return Forward(record); }
};

// A supplier of P(function, arguments...). The compiled function says nothing about itself, so its
// description is no more than `kind`; and it may remember something, so it is not Stateless().
template <typename P, typename Function, typename... Arguments>
Result<ProcessorSupplier> Supply(std::string_view kind, Function function, Arguments... arguments) {
  if (!function) return Status::Expression("its function is empty");
  return ProcessorSupplier([function = std::move(function),
                            arguments...] { return std::make_unique<P>(function, arguments...); },
                           fmt::format("{} (function)", kind));
}

}  // namespace

Result<ProcessorSupplier> FilterBy(Predicate keep, bool negate) {
  return Supply<FunctionFilter>(negate ? "filter-not" : "filter", std::move(keep), negate);
}

Result<ProcessorSupplier> MapBy(Mapper mapper) {
  return Supply<FunctionMap>("map", std::move(mapper), MapperRule{.single = true});
}

Result<ProcessorSupplier> FlatMapBy(Mapper mapper) {
  return Supply<FunctionMap>("flat-map", std::move(mapper), MapperRule{});
}

Result<ProcessorSupplier> FlatMapValuesBy(Mapper mapper) {
  return Supply<FunctionMap>("flat-map-values", std::move(mapper), MapperRule{.keep_key = true});
}

Result<ProcessorSupplier> MapValuesBy(ValueMapper mapper) {
  return Supply<FunctionMapValues>("map-values", std::move(mapper));
}

Result<ProcessorSupplier> SelectKeyBy(KeySelector selector) {
  return Supply<FunctionSelectKey>("select-key", std::move(selector));
}

Result<ProcessorSupplier> GroupBy(KeySelector key) {
  return Supply<FunctionGroupBy>("group-by", std::move(key), std::make_shared<SkipTotals>());
}

Result<ProcessorSupplier> GroupTableBy(KeySelector key, const std::string& store,
                                       const SerdeNames& names) {
  if (!key) return Status::Expression("its function is empty");
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(names.key, names.value));
  const auto group_of = [key]() -> GroupOfRow {
    return [key, made = std::string()](const Record& row, Bytes* group) mutable {
      const MadeBytes group_made = key(row);
      if (!group_made.ok()) return WhyNone(group_made);
      made = group_made->value_or("");
      *group = *group_made ? Bytes(made) : std::nullopt;
      return Status::Ok();
    };
  };
  auto skips = std::make_shared<SkipTotals>();
  return ProcessorSupplier(
      [store, serdes, group_of, skips] { return NewGroupTable(store, serdes, group_of, skips); },
      "group-table-by (function)" + Describe(names));
}

Result<ProcessorSupplier> PeekBy(Action action) {
  return Supply<FunctionPeek>("peek", std::move(action));
}

ProcessorSupplier PassOn(std::string description) {
  const auto make = [] { return std::make_unique<PassingOn>(); };
  return ProcessorSupplier(make, std::move(description)).Stateless();
}

}  // namespace kstream::dsl
