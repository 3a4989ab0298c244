// Map: each value becomes 0..n values, with a key, headers and a place of their own if asked for.
//
// All that one record becomes is computed before any of it is forwarded, so a failing expression
// leaves nothing half done. Tested by tests/unit/dsl/operators_test.cc.
#include <vector>

#include "base/arena.h"
#include "dsl/describe.h"
#include "dsl/made_records.h"
#include "dsl/operator.h"
#include "dsl/route.h"
#include "expr/program.h"
#include "expr/single_value.h"
#include "kstream/operators.h"

namespace kstream {
namespace {

class MapProcessor final : public dsl::Operator {
 public:
  MapProcessor(const MapSpec& spec, const Serdes& serdes)
      : value_(spec.value.program(), serdes),
        value_serde_(serdes.value),
        single_(spec.single),
        route_(spec.route, serdes) {
    if (spec.tombstone) tombstone_.emplace("--tombstone", *spec.tombstone, serdes);
    if (spec.key) key_.emplace("--set-key", *spec.key, serdes);
    for (const auto& [name, expression] : spec.headers) {
      headers_.push_back({name, expr::SingleValue("--header " + name, expression, serdes)});
    }
  }

  Status Process(const Record& record) override {
    arena_.Reset();
    made_.clear();
    collected_ = 0;
    header_store_.clear();
    if (record.value) {
      // A step of its own: the evaluator's text is valid during the callback only.
      KSTREAM_RETURN_IF_ERROR(value_.ForEach(
          dsl::InputOf(record), [&](std::string_view json) { return Collect(json, record); }));
      if (single_ && made_.size() != 1) return Status::Data("the expression gives no value");
      for (Made& made : made_) KSTREAM_RETURN_IF_ERROR(Complete(record, &made));
    } else {
      made_.push_back({"null", record});
      KSTREAM_RETURN_IF_ERROR(Place(InputOf(record, made_[0]), &made_[0]));
    }
    for (Made& made : made_) KSTREAM_RETURN_IF_ERROR(ForwardOne(record, &made));
    return Status::Ok();
  }

 private:
  struct Made {
    std::string_view json;
    Record record;
    size_t first_header = 0;
  };
  struct NamedHeader {
    std::string name;
    expr::SingleValue value;
  };

  Status Collect(std::string_view json, const Record& record) {
    if (single_ && !made_.empty()) return Status::Data("the expression gives more than one value");
    collected_ += json.size() + sizeof(Made);
    if (collected_ > dsl::kMostBytes) return dsl::TooMuch();
    made_.push_back({arena_.Copy(json), record});
    return Status::Ok();
  }

  static expr::Input InputOf(const Record& record, const Made& made) {
    return {.record = &record, .out = made.json, .left = {}, .right = {}, .acc = {}};
  }

  // Fills in everything about one output but the span of its headers, whose store may still grow.
  Status Complete(const Record& record, Made* made) {
    const expr::Input input = InputOf(record, *made);
    KSTREAM_RETURN_IF_ERROR(SetValue(input, made));
    if (key_) {
      KSTREAM_RETURN_IF_ERROR(key_->Key(input, &made->record.key));
      Keep(&made->record.key);
      made->record.partition_key.reset();
    }
    made->first_header = header_store_.size();
    if (!headers_.empty()) KSTREAM_RETURN_IF_ERROR(SetHeaders(record, input));
    return Place(input, made);
  }

  Status SetValue(const expr::Input& input, Made* made) {
    bool tombstone = false;
    if (tombstone_) KSTREAM_RETURN_IF_ERROR(tombstone_->Test(input, &tombstone));
    if (tombstone) {
      made->record.value.reset();
    } else if (value_serde_.kind() == Serde::Kind::kJson) {
      made->record.value = made->json;
    } else {
      bytes_.clear();
      KSTREAM_RETURN_IF_ERROR(value_serde_.FromJson(made->json, &bytes_));
      made->record.value = arena_.Copy(bytes_);
    }
    return Status::Ok();
  }

  Status SetHeaders(const Record& record, const expr::Input& input) {
    header_store_.insert(header_store_.end(), record.headers.begin(), record.headers.end());
    for (NamedHeader& header : headers_) {
      Bytes value;
      KSTREAM_RETURN_IF_ERROR(header.value.Text(input, &value));
      Keep(&value);
      header_store_.push_back({header.name, value});
    }
    return Status::Ok();
  }

  Status Place(const expr::Input& input, Made* made) {
    KSTREAM_RETURN_IF_ERROR(route_.Apply(input, &made->record));
    if (made->record.topic.data() != input.record->topic.data()) {
      made->record.topic = arena_.Copy(made->record.topic);
    }
    return Status::Ok();
  }

  Status ForwardOne(const Record& source, Made* made) {
    if (source.value) {
      if (!headers_.empty()) {
        made->record.headers =
            std::span(header_store_).subspan(made->first_header, HeadersEach(source));
      }
      made->record.cache = cache_.Next(value_serde_.kind() == Serde::Kind::kJson);
    }
    return Forward(made->record);
  }

  size_t HeadersEach(const Record& source) const { return source.headers.size() + headers_.size(); }

  void Keep(Bytes* bytes) {
    if (*bytes) *bytes = arena_.Copy(**bytes);
  }

  expr::Evaluator value_;
  Serde value_serde_;
  const bool single_;
  std::optional<expr::SingleValue> tombstone_, key_;
  std::vector<NamedHeader> headers_;
  dsl::Route route_;

  Arena arena_;
  std::vector<Made> made_;
  size_t collected_ = 0;  // bytes that made_ stands for
  std::vector<Header> header_store_;
  std::string bytes_;
  dsl::FreshCache cache_;
};

}  // namespace

Result<ProcessorSupplier> Map(MapSpec spec) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(spec.serdes.key, spec.serdes.value));
  std::string description = dsl::Describe(spec);
  auto make = [spec = std::move(spec), serdes] {
    return std::make_unique<MapProcessor>(spec, serdes);
  };
  return ProcessorSupplier(std::move(make), std::move(description)).Stateless();
}

}  // namespace kstream
