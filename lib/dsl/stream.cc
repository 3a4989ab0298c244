// Streams: each operator is a node below the one before it. What it does is elsewhere: in the
// processors of this room. Tested by tests/unit/dsl/stream_test.cc.
#include "kstream/stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/stream_graph.h"
#include "dsl/suppliers.h"
#include "kstream/operators.h"
#include "record/serde.h"

namespace kstream {
namespace {

using Supplier = Result<ProcessorSupplier>;

Supplier FilterOf(const StreamExpression& expression, bool negate, const SerdeNames& serdes,
                  bool table = false) {
  KSTREAM_ASSIGN_OR_RETURN(Expression keep, expression.Compile());
  return Filter({.keep = std::move(keep), .negate = negate, .table = table, .serdes = serdes});
}

// An expression that may use `$out`; nothing stays nothing.
Status CompileOver(const std::optional<StreamExpression>& text, std::optional<Expression>* out) {
  if (!text) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(*out, text->Compile({"out"}));
  return Status::Ok();
}

Supplier MapOf(const MapExpressions& made, bool single, const SerdeNames& serdes) {
  KSTREAM_ASSIGN_OR_RETURN(Expression value, made.value.Compile());
  MapSpec spec{.value = std::move(value), .serdes = serdes, .single = single};
  KSTREAM_RETURN_IF_ERROR(CompileOver(made.tombstone, &spec.tombstone));
  KSTREAM_RETURN_IF_ERROR(CompileOver(made.key, &spec.key));
  KSTREAM_RETURN_IF_ERROR(CompileOver(made.to, &spec.route.to));
  KSTREAM_RETURN_IF_ERROR(CompileOver(made.partition, &spec.route.partition));
  for (const auto& [name, text] : made.headers) {
    KSTREAM_ASSIGN_OR_RETURN(Expression header, text.Compile({"out"}));
    spec.headers.emplace_back(name, std::move(header));
  }
  return Map(std::move(spec));
}

Supplier SelectKeyOf(const StreamExpression& expression, const SerdeNames& serdes) {
  KSTREAM_ASSIGN_OR_RETURN(const Expression key, expression.Compile());
  return dsl::SelectKey(key, serdes);
}

Result<dsl::BranchCase> CaseOf(const BranchSpec& branch) {
  if (branch.name.empty()) return Status::Expression("a branch without a name: give it one");
  if (const auto* function = std::get_if<Predicate>(&branch.when)) {
    if (!*function) {
      return Status::Expression(fmt::format("the function of branch '{}' is empty", branch.name));
    }
    return dsl::BranchCase{branch.name, *function};
  }
  Result<Expression> when = std::get<StreamExpression>(branch.when).Compile();
  if (!when.ok()) return when.status().At(fmt::format("branch '{}'", branch.name));
  return dsl::BranchCase{branch.name, *std::move(when)};
}

Supplier BranchOf(const std::vector<BranchSpec>& branches, const std::string& otherwise,
                  const SerdeNames& serdes) {
  if (branches.empty()) return Status::Expression("there are no branches");
  std::vector<dsl::BranchCase> cases;
  for (const BranchSpec& branch : branches) {
    KSTREAM_ASSIGN_OR_RETURN(dsl::BranchCase made, CaseOf(branch));
    cases.push_back(std::move(made));
  }
  return dsl::Branch(std::move(cases), otherwise, serdes);
}

bool SameSerdes(const SerdeNames& a, const SerdeNames& b) {
  return a.key == b.key && a.value == b.value;
}

}  // namespace

StreamExpression::StreamExpression(Expression compiled)
    : source_(Result<Expression>(std::move(compiled))) {}
StreamExpression::StreamExpression(Result<Expression> compiled) : source_(std::move(compiled)) {}

Result<Expression> StreamExpression::Compile(const std::vector<std::string>& names) const {
  if (const auto* compiled = std::get_if<Result<Expression>>(&source_)) return *compiled;
  return Expression::Compile(std::get<std::string>(source_), Language::kAuto, names);
}

Stream::Stream(dsl::StreamGraph* graph, std::string node, SerdeNames serdes, bool rekeyed)
    : graph_(graph), node_(std::move(node)), serdes_(std::move(serdes)), rekeyed_(rekeyed) {}

Stream Stream::Add(std::string name, Result<ProcessorSupplier> supplier, bool rekeyed,
                   std::vector<std::string> stores) const {
  if (supplier.ok()) {
    graph_->AddProcessor(name, *std::move(supplier), {node_}, std::move(stores));
  } else {
    graph_->Mistake(name, supplier.status());
  }
  return {graph_, std::move(name), serdes_, rekeyed};
}

Stream Stream::Filter(const StreamExpression& keep, std::string name) const {
  return Add(graph_->Name(std::move(name), "filter"), FilterOf(keep, false, serdes_), rekeyed_);
}

Stream Stream::Filter(Predicate keep, std::string name) const {
  return Add(graph_->Name(std::move(name), "filter"), dsl::FilterBy(std::move(keep), false),
             rekeyed_);
}

Stream Stream::FilterNot(const StreamExpression& drop, std::string name) const {
  return Add(graph_->Name(std::move(name), "filter-not"), FilterOf(drop, true, serdes_), rekeyed_);
}

Stream Stream::FilterNot(Predicate drop, std::string name) const {
  return Add(graph_->Name(std::move(name), "filter-not"), dsl::FilterBy(std::move(drop), true),
             rekeyed_);
}

Stream Stream::FilterRows(const StreamExpression& keep, bool negate, std::string name) const {
  return Add(graph_->Name(std::move(name), negate ? "filter-not" : "filter"),
             FilterOf(keep, negate, serdes_, true), rekeyed_);
}

Stream Stream::Map(const MapExpressions& made, std::string name) const {
  return Add(graph_->Name(std::move(name), "map"), MapOf(made, true, serdes_),
             rekeyed_ || made.key.has_value());
}

Stream Stream::MapBy(Mapper mapper, std::string name) const {
  return Add(graph_->Name(std::move(name), "map"), dsl::MapBy(std::move(mapper)), true);
}

Stream Stream::FlatMap(const MapExpressions& made, std::string name) const {
  return Add(graph_->Name(std::move(name), "flat-map"), MapOf(made, false, serdes_),
             rekeyed_ || made.key.has_value());
}

Stream Stream::FlatMapBy(Mapper mapper, std::string name) const {
  return Add(graph_->Name(std::move(name), "flat-map"), dsl::FlatMapBy(std::move(mapper)), true);
}

Stream Stream::MapValues(StreamExpression value, std::string name) const {
  return Add(graph_->Name(std::move(name), "map-values"),
             MapOf({.value = std::move(value)}, true, serdes_), rekeyed_);
}

Stream Stream::MapValues(ValueMapper mapper, std::string name) const {
  return Add(graph_->Name(std::move(name), "map-values"), dsl::MapValuesBy(std::move(mapper)),
             rekeyed_);
}

Stream Stream::FlatMapValues(StreamExpression values, std::string name) const {
  return Add(graph_->Name(std::move(name), "flat-map-values"),
             MapOf({.value = std::move(values)}, false, serdes_), rekeyed_);
}

Stream Stream::FlatMapValues(Mapper mapper, std::string name) const {
  return Add(graph_->Name(std::move(name), "flat-map-values"),
             dsl::FlatMapValuesBy(std::move(mapper)), rekeyed_);
}

Stream Stream::SelectKey(const StreamExpression& key, std::string name) const {
  return Add(graph_->Name(std::move(name), "select-key"), SelectKeyOf(key, serdes_), true);
}

Stream Stream::SelectKey(KeySelector key, std::string name) const {
  return Add(graph_->Name(std::move(name), "select-key"), dsl::SelectKeyBy(std::move(key)), true);
}

std::vector<Stream> Stream::Branch(std::vector<BranchSpec> branches, std::string otherwise,
                                   std::string name) const {
  const Stream fork = Add(graph_->Name(std::move(name), "branch"),
                          BranchOf(branches, otherwise, serdes_), rekeyed_);
  std::vector<Stream> streams;
  streams.reserve(branches.size() + 1);
  for (BranchSpec& branch : branches) {
    streams.push_back(fork.Add(std::move(branch.name), dsl::PassOn("branch"), rekeyed_));
  }
  if (!otherwise.empty()) {
    streams.push_back(fork.Add(std::move(otherwise), dsl::PassOn("branch"), rekeyed_));
  }
  return streams;
}

Stream Stream::Merge(const Stream& other, std::string name) const {
  name = graph_->Name(std::move(name), "merge");
  if (other.graph_ != graph_) {
    graph_->Mistake(name, Status::Expression(
                              fmt::format("stream '{}' is of another StreamBuilder", other.node_)));
  } else if (other.node_ == node_) {
    graph_->Mistake(name, Status::Expression(fmt::format("stream '{}' is merged with itself: each "
                                                         "of its records would come twice",
                                                         node_)));
  } else if (!SameSerdes(serdes_, other.serdes_)) {
    graph_->Mistake(name, Status::Expression(fmt::format(
                              "'{}' and '{}' are seen through different serdes: bring them to the "
                              "same ones first",
                              node_, other.node_)));
  } else {
    graph_->AddProcessor(name, dsl::PassOn("merge"), {node_, other.node_});
  }
  return {graph_, std::move(name), serdes_, rekeyed_ || other.rekeyed_};
}

Stream Stream::As(std::string name, std::optional<SerdeNames> serdes) const {
  Stream same = Add(graph_->Name(std::move(name), "as"), dsl::PassOn("as"), rekeyed_);
  if (serdes) same.serdes_ = *std::move(serdes);
  return same;
}

Stream Stream::Peek(Action action, std::string name) const {
  return Add(graph_->Name(std::move(name), "peek"), dsl::PeekBy(std::move(action)), rekeyed_);
}

Stream Stream::Process(ProcessorSupplier supplier, std::string name,
                       std::vector<std::string> stores) const {
  return Add(graph_->Name(std::move(name), "process"), std::move(supplier), true,
             std::move(stores));
}

Stream Stream::Through(Location topic, std::string name) const {
  name = graph_->Name(std::move(name), "through");
  if (!topic.is_topic() || topic.is_pattern()) {
    graph_->Mistake(name, Status::Expression(fmt::format(
                              "{} is not a topic that can be written and read", topic.ToString())));
  }
  return Via(std::move(topic), name);
}

Stream Stream::Repartition(const std::string& name) const {
  if (name.empty()) {
    graph_->Mistake(node_, Status::Expression("it is repartitioned without a name, which its topic "
                                              "needs: give one"));
  }
  if (graph_->one_task()) return {graph_, node_, serdes_, false};
  return Via(Location::Repartition(name), name);
}

// Whatever wrote the topic went by the key.
Stream Stream::Via(Location topic, const std::string& name) const {
  std::string source = name + "-source";
  graph_->AddSink(name + "-sink", {.output = topic, .serdes = serdes_}, node_);
  graph_->AddSource(source, {.inputs = {std::move(topic)}, .serdes = serdes_});
  return {graph_, std::move(source), serdes_, false};
}

void Stream::To(Location output, std::string name) const {
  To(SinkSpec{.output = std::move(output)}, std::move(name));
}

void Stream::To(SinkSpec sink, std::string name) const {
  if (!sink.serdes) sink.serdes = serdes_;
  graph_->AddSink(graph_->Name(std::move(name), "sink"), std::move(sink), node_);
}

StreamBuilder::StreamBuilder(SerdeNames serdes)
    : graph_(std::make_unique<dsl::StreamGraph>(std::move(serdes))) {}
StreamBuilder::~StreamBuilder() = default;
// What was moved from is as new; the streams made before go on with the graph.
StreamBuilder::StreamBuilder(StreamBuilder&& other) noexcept
    : graph_(std::exchange(other.graph_,
                           std::make_unique<dsl::StreamGraph>(other.graph_->serdes()))) {}

Stream StreamBuilder::Source(Location input, std::string name) {
  return Source(SourceSpec{.inputs = {std::move(input)}}, std::move(name));
}

Stream StreamBuilder::Source(SourceSpec source, std::string name) {
  name = graph_->Name(std::move(name), "source");
  const SerdeNames serdes = source.serdes.value_or(graph_->serdes());
  if (const auto parsed = Serdes::Parse(serdes.key, serdes.value); !parsed.ok()) {
    graph_->Mistake(name, parsed.status());
  }
  const bool rekeyed = source.key && std::ranges::any_of(source.inputs, &Location::is_topic);
  source.serdes = serdes;
  graph_->AddSource(name, std::move(source));
  return {graph_.get(), std::move(name), serdes, rekeyed};
}

StreamBuilder& StreamBuilder::OneTask() {
  graph_->OneTask();
  return *this;
}

StreamBuilder& StreamBuilder::AddStore(StoreSpec store) {
  graph_->AddStore(std::move(store));
  return *this;
}

StreamBuilder& StreamBuilder::AddStore(std::string name, StoreSupplier supplier) {
  graph_->AddStore(std::move(name), std::move(supplier));
  return *this;
}

Result<Topology> StreamBuilder::Build() const { return graph_->Build(); }

}  // namespace kstream
