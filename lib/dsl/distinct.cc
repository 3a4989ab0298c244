// Distinct: a record that repeats one of late is left out. What is remembered is seen_records.h.
//
// Where records of one unique key are in several tasks, a node before the repartition takes each to
// the task of its unique key, which it names in a header; so the record's own key and all else of
// it come through as they are. Tested by tests/unit/dsl/distinct_test.cc and
// tests/system/unique.bats.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/aligned_windows.h"
#include "dsl/describe.h"
#include "dsl/event_time.h"
#include "dsl/operator.h"
#include "dsl/route.h"
#include "dsl/seen_records.h"
#include "dsl/skips.h"
#include "dsl/stream_graph.h"
#include "expr/single_value.h"
#include "kstream/operators.h"
#include "kstream/stream.h"

namespace kstream {
namespace {

// The last header of a record on its way to the task of its unique key; missing: it has none.
constexpr std::string_view kUniqueKey = "kstream.unique";

class DistinctKeyProcessor final : public dsl::Operator {
 public:
  DistinctKeyProcessor(const DistinctKeySpec& spec, const Serdes& serdes)
      : by_("--unique-by", spec.by, serdes) {}

  Status Process(const Record& record) override {
    Bytes key;
    KSTREAM_RETURN_IF_ERROR(by_.Key(dsl::InputOf(record), &key));
    KSTREAM_RETURN_IF_ERROR(dsl::CheckTime(record));
    if (!key) return Forward(record);
    headers_.assign(record.headers.begin(), record.headers.end());
    headers_.push_back({kUniqueKey, key});
    Record told = record;
    told.headers = headers_;
    told.partition_key = key;
    return Forward(told);
  }

 private:
  expr::SingleValue by_;
  std::vector<Header> headers_;
};

class DistinctProcessor final : public Processor {
 public:
  DistinctProcessor(const DistinctSpec& spec, const Serdes& serdes,
                    std::shared_ptr<dsl::SkipTotals> skips)
      : kept_(spec.kept),
        rest_(spec.rest),
        grace_(spec.grace.value_or(spec.within).count()),
        route_(spec.route, serdes),
        skips_(std::move(skips)),
        seen_(spec.within.count(), grace_, spec.store) {
    if (spec.by) by_.emplace("--unique-by", *spec.by, serdes);
  }

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    ids_.Init(context);
    return seen_.Init(context);
  }

  Status Process(const Record& record) override {
    Record plain = record;
    Bytes key;
    KSTREAM_RETURN_IF_ERROR(TakeKey(&plain, &key));
    KSTREAM_RETURN_IF_ERROR(dsl::CheckTime(record));
    Record kept = plain;
    KSTREAM_RETURN_IF_ERROR(route_.Apply(dsl::InputOf(plain), &kept));
    const dsl::RecordId id = ids_.Next(*context_);
    const int64_t time = record.timestamp;
    const int64_t now = std::max(context_->stream_time().value_or(time), time);
    if (key) {
      KSTREAM_RETURN_IF_ERROR(Decide(*key, {time, now, id}, kept));
    } else {
      skips_.Keyless();
      KSTREAM_RETURN_IF_ERROR(Forward(kept, kept_));
    }
    seen_.MoveTo(now);
    return Status::Ok();
  }

  Status Flush() override { return seen_.Flush(); }

  void Close() override {
    skips_.Tell(context_ ? context_->node() : "unique");
    seen_.Close();
  }

 private:
  Status TakeKey(Record* record, Bytes* key) {
    if (by_) return by_->Key(dsl::InputOf(*record), key);
    const auto headers = record->headers;
    if (headers.empty() || headers.back().name != kUniqueKey) return Status::Ok();
    *key = headers.back().value;
    record->headers = headers.first(headers.size() - 1);
    return Status::Ok();
  }

  Status Decide(std::string_view key, const dsl::SeenRecords::Seen& seen, const Record& record) {
    using Answer = dsl::SeenRecords::Answer;
    KSTREAM_ASSIGN_OR_RETURN(const Answer answer, seen_.Ask(key, seen));
    if (answer == Answer::kRepeat) {
      skips_.Repeat();
      return rest_.empty() ? Status::Ok() : Forward(record, rest_);
    }
    KSTREAM_RETURN_IF_ERROR(Forward(record, kept_));
    if (answer == Answer::kItself) return Status::Ok();
    seen_.Remember(key, seen);
    if (seen.came - seen.time > grace_) skips_.Unsure();
    return Status::Ok();
  }

  Status Forward(const Record& record, const std::string& child) {
    return child.empty() ? context_->Forward(record) : context_->Forward(record, child);
  }

  const std::string kept_, rest_;
  const int64_t grace_;
  std::optional<expr::SingleValue> by_;  // missing: a header says it
  dsl::Route route_;
  dsl::Skips skips_;
  dsl::RecordIds ids_;
  dsl::SeenRecords seen_;
  ProcessorContext* context_ = nullptr;
};

Status Check(const DistinctSpec& spec) {
  constexpr std::chrono::milliseconds kLongest{dsl::AlignedWindows::kLastTime};
  if (spec.within.count() <= 0) return Status::Usage("--within must be longer than 0");
  if (spec.grace && spec.grace->count() < 0) return Status::Usage("--grace cannot be less than 0");
  if (spec.within > kLongest || spec.grace.value_or(spec.within) > kLongest) {
    return Status::Usage("--within and --grace reach past the year 9999");
  }
  if (spec.rest.empty() || !spec.kept.empty()) return Status::Ok();
  return Status::Usage("repeats go where the others do not: name where those go");
}

}  // namespace

Result<ProcessorSupplier> Distinct(DistinctSpec spec) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(spec.serdes.key, spec.serdes.value));
  KSTREAM_RETURN_IF_ERROR(Check(spec));
  std::string description = dsl::Describe(spec);
  auto skips = std::make_shared<dsl::SkipTotals>();
  auto make = [spec = std::move(spec), serdes, skips] {
    return std::make_unique<DistinctProcessor>(spec, serdes, skips);
  };
  return ProcessorSupplier(std::move(make), std::move(description));
}

Result<ProcessorSupplier> DistinctKey(DistinctKeySpec spec) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(spec.serdes.key, spec.serdes.value));
  std::string description = "distinct-key " + dsl::Quoted(spec.by) + dsl::Describe(spec.serdes);
  auto make = [spec = std::move(spec), serdes] {
    return std::make_unique<DistinctKeyProcessor>(spec, serdes);
  };
  return ProcessorSupplier(std::move(make), std::move(description)).Stateless();
}

Stream Stream::Distinct(DistinctSpec spec, const std::string& name) const {
  if (spec.store.empty()) spec.store = name;
  if (name.empty() || !spec.by) {
    graph_->Mistake(node_, Status::Expression("what is distinct of it needs a name and a key"));
    return *this;
  }
  spec.serdes = serdes_;
  const std::string store = spec.store;
  graph_->AddStore(StoreSpec{.name = store});
  const bool together = graph_->one_task() || (spec.by->text() == "$key" && !rekeyed_);
  Stream gathered = *this;
  if (!together) {
    gathered = Add(name + "-key", kstream::DistinctKey({.by = *spec.by, .serdes = serdes_}), true)
                   .Repartition(store);
    spec.by.reset();
  }
  // Records lie by their unique keys now, not by their own.
  return gathered.Add(name, kstream::Distinct(std::move(spec)), rekeyed_ || !together, {store});
}

Stream Stream::Distinct(const StreamExpression& by, std::chrono::milliseconds within,
                        const std::string& name) const {
  Result<Expression> key = by.Compile();
  if (!key.ok()) return Add(name, key.status(), true);
  return Distinct(DistinctSpec{.by = *std::move(key), .within = within}, name);
}

}  // namespace kstream
