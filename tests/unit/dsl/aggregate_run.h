// An aggregate in the real task, between a source and the sink "out"; its store, if it has one, is
// kept by the test.
#ifndef KSTREAM_TESTS_UNIT_DSL_AGGREGATE_RUN_H_
#define KSTREAM_TESTS_UNIT_DSL_AGGREGATE_RUN_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kstream/operators.h"
#include "kstream/store.h"
#include "kstream/topology.h"
#include "unit/dsl/task_run.h"

namespace kstream {

using Kind = AggregateFunction::Kind;
using RowsOut = AggregateSpec::Emit;

inline Expression Compile(std::string_view text) {
  Result<Expression> expression = Expression::Compile(text, Language::kAuto, {"acc"});
  EXPECT_TRUE(expression.ok()) << expression.status().message();
  return *expression;
}

inline AggregateFunction Of(Kind kind, std::string_view argument, std::string name = {}) {
  return {.kind = kind, .argument = Compile(argument), .name = std::move(name)};
}

// A store that outlives tasks, as those of the runtime do.
class LastingStore {
 public:
  LastingStore() : store_(InMemoryKeyValueStore()("kept")) {}

  KeyValueStore& rows() { return dynamic_cast<KeyValueStore&>(*store_); }
  // The value of a key, or "(none)".
  std::string At(std::string_view key) {
    const Result<std::optional<std::string>> value = rows().Get(key);
    return value.ok() ? value->value_or("(none)") : std::string(value.status().message());
  }
  task::Task::KeptStores Kept() { return {{"rows", this->Open()}}; }
  StateStore* Open() {
    view_ = std::make_unique<View>(&rows());
    return view_.get();
  }

 private:
  // The task closes its stores, and those of the runtime go on.
  class View final : public KeyValueStore {
   public:
    explicit View(KeyValueStore* of) : of_(of) {}
    std::string_view name() const override { return "rows"; }
    void Close() override {}
    Status Put(std::string_view key, std::string_view value, int64_t timestamp) override {
      return of_->Put(key, value, timestamp);
    }
    Status Delete(std::string_view key) override { return of_->Delete(key); }
    Status Clear() override { return of_->Clear(); }
    Result<bool> Find(std::string_view key, StoredRow* row) const override {
      return of_->Find(key, row);
    }
    Status RangeRows(std::string_view from, std::optional<std::string_view> to,
                     const RowVisitor& visit) const override {
      return of_->RangeRows(from, to, visit);
    }

   private:
    KeyValueStore* const of_;
  };

  std::unique_ptr<StateStore> store_;
  std::unique_ptr<View> view_;
};

class AggregateRun : public TaskRun {
 public:
  explicit AggregateRun(AggregateSpec spec) : TaskRun(Build(std::move(spec))) {}
  AggregateRun(AggregateSpec spec, LastingStore* store,
               std::optional<int64_t> stream_time = std::nullopt)
      : TaskRun(Build(std::move(spec), true), 0, store->Kept(), stream_time) {}

  // The rows forwarded so far, one a line.
  std::string Rows() {
    std::string rows;
    for (const Kept& kept : out().records) rows += kept.value.value_or("(null)") + "\n";
    return rows;
  }

 private:
  static Result<Topology> Build(AggregateSpec spec, bool stored = false) {
    if (stored) spec.store = "rows";
    Result<ProcessorSupplier> supplier = Aggregate(spec);
    if (!supplier.ok()) return supplier.status();
    const std::string late = spec.late;
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {{Location::Kind::kFile, "", "in"}}})
        .AddProcessor("agg", (*std::move(supplier)).Unnamed(), {"in"})
        .AddSink("out", {}, {"agg"});
    if (!late.empty()) builder.AddSink(late, {}, {"agg"});
    if (stored) builder.AddStore(StoreSpec{.name = "rows"}, {"agg"});
    return builder.Build();
  }
};

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_DSL_AGGREGATE_RUN_H_
