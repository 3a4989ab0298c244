// JoinStreams and the joins of Stream, as the public face has them: specifications are checked and
// described here; what runs is stream_join.h. Tested by tests/unit/dsl/stream_join_test.cc.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "dsl/aligned_windows.h"
#include "dsl/describe.h"
#include "dsl/stream_graph.h"
#include "dsl/stream_join.h"
#include "kstream/joins.h"
#include "record/json_document.h"

namespace kstream {
namespace {

constexpr std::chrono::milliseconds kLongest{dsl::AlignedWindows::kLastTime};

// Which records it keeps, and what becomes of them.
std::string AboutRecords(const StreamJoinSpec& spec) {
  constexpr std::string_view kMatches[] = {"", " --prior", " --latest"};
  const JoinWindows& windows = spec.windows;
  return fmt::format("--type {}{} --before {}ms --after {}ms --grace {}ms", ToString(spec.type),
                     kMatches[static_cast<size_t>(spec.match)], windows.before.count(),
                     windows.after.count(), windows.grace.count());
}

std::string Describe(const StreamJoinSpec& spec) {
  std::string text = "join " + AboutRecords(spec);
  if (spec.value) text += " --value " + dsl::Quoted(*spec.value);
  if (spec.joiner) text += " (function)";
  if (!spec.late.empty()) text += " --late " + spec.late;
  if (spec.route.partition) text += " --partition " + dsl::Quoted(*spec.route.partition);
  text += dsl::Describe(spec.left_serdes);
  const std::string right = dsl::Describe(spec.right_serdes);
  return right.empty() ? text : text + " right" + right;
}

Status Check(const StreamJoinSpec& spec) {
  KSTREAM_RETURN_IF_ERROR(spec.windows.Check());
  if (!spec.late.empty() && spec.rows.empty()) {
    return Status::Usage("late records go where results do not: name where those go");
  }
  if (spec.match == JoinMatch::kLatest && spec.type == JoinType::kOuter) {
    return Status::Usage(
        "the latest right record is chosen for each left one: right ones are never alone");
  }
  if (spec.value && spec.joiner) return Status::Usage("its value is made twice");
  return Status::Ok();
}

}  // namespace

std::string_view ToString(JoinType type) {
  constexpr std::string_view kNames[] = {"inner", "left", "outer"};
  return kNames[static_cast<size_t>(type)];
}

Status JoinWindows::Check() const {
  const auto refuse = [](std::string_view what, std::chrono::milliseconds length) {
    return Status::Usage(fmt::format("{} of {}ms: it is 0 or more", what, length.count()));
  };
  if (before.count() < 0) return refuse("before", before);
  if (after.count() < 0) return refuse("after", after);
  if (grace.count() < 0) return refuse("grace", grace);
  if (before > kLongest || after > kLongest || grace > kLongest) {
    return Status::Usage("a window and its grace are shorter than all of time");
  }
  return Status::Ok();
}

Result<StreamJoinNodes> JoinStreams(StreamJoinSpec spec) {
  KSTREAM_RETURN_IF_ERROR(Check(spec));
  KSTREAM_ASSIGN_OR_RETURN(const Serdes left,
                           Serdes::Parse(spec.left_serdes.key, spec.left_serdes.value));
  KSTREAM_ASSIGN_OR_RETURN(const Serdes right,
                           Serdes::Parse(spec.right_serdes.key, spec.right_serdes.value));
  if (spec.match != JoinMatch::kAll) spec.windows.after = std::chrono::milliseconds(0);
  std::string description = Describe(spec);
  const std::string turn = spec.name + "-turn";
  std::string about = "{\"join\":";
  json::AppendQuoted(AboutRecords(spec), &about);
  about += '}';
  dsl::JoinPlan plan{.spec = std::move(spec),
                     .about = std::move(about),
                     .turn = turn,
                     .left = left,
                     .right = right,
                     .totals = std::make_shared<dsl::JoinTotals>("within the window")};
  StreamJoinNodes nodes;
  nodes.left = dsl::JoinSideOf(dsl::JoinSide::kLeft, turn);
  nodes.right = dsl::JoinSideOf(dsl::JoinSide::kRight, turn);
  nodes.join = ProcessorSupplier(
      [plan = std::move(plan)] { return std::make_unique<dsl::StreamJoin>(plan); },
      std::move(description));
  nodes.turn = dsl::JoinTurn::Supplier();
  return nodes;
}

Stream Stream::Join(const Stream& right, StreamJoinSpec spec) const {
  if (spec.store.empty()) spec.store = spec.name;
  const std::string name = spec.name, store = spec.store;
  if (right.graph_ != graph_) {
    graph_->Mistake(name, Status::Expression(
                              fmt::format("stream '{}' is of another StreamBuilder", right.node_)));
    return *this;
  }
  spec.left_serdes = serdes_;
  spec.right_serdes = right.serdes_;
  SerdeNames serdes = serdes_;
  if (!spec.joiner) serdes.value = "json";
  const auto side = [&](const Stream& stream, std::string_view which) {
    const std::string topic = fmt::format("{}-{}", store, which);
    return stream.rekeyed_ ? stream.Repartition(topic).node_ : stream.node_;
  };
  const std::string left_node = side(*this, "left"), right_node = side(right, "right");
  Result<StreamJoinNodes> nodes = JoinStreams(std::move(spec));
  if (!nodes.ok()) {
    graph_->Mistake(name, nodes.status());
    return *this;
  }
  const std::string turn = name + "-turn";
  graph_->AddStore(turn, std::move(nodes->turn));
  graph_->AddStore(StoreSpec{.name = store});
  graph_->AddProcessor(name + "-left", std::move(nodes->left), {left_node}, {turn});
  graph_->AddProcessor(name + "-right", std::move(nodes->right), {right_node}, {turn});
  graph_->AddProcessor(name, std::move(nodes->join), {name + "-left", name + "-right"},
                       {turn, store});
  return {graph_, name, std::move(serdes), false};
}

Stream Stream::JoinWith(const Stream& right, StreamJoinSpec spec, const JoinedValue& value) const {
  if (value.expression) {
    Result<Expression> compiled = value.expression->Compile({"left", "right"});
    if (!compiled.ok()) graph_->Mistake(spec.name, compiled.status());
    if (compiled.ok()) spec.value = *std::move(compiled);
  }
  spec.joiner = value.function;
  return Join(right, std::move(spec));
}

Stream Stream::Join(const Stream& right, const JoinWindows& windows, const std::string& name,
                    const JoinedValue& value) const {
  return JoinWith(right, {.windows = windows, .name = name}, value);
}

Stream Stream::LeftJoin(const Stream& right, const JoinWindows& windows, const std::string& name,
                        const JoinedValue& value) const {
  return JoinWith(right, {.windows = windows, .type = JoinType::kLeft, .name = name}, value);
}

Stream Stream::OuterJoin(const Stream& right, const JoinWindows& windows, const std::string& name,
                         const JoinedValue& value) const {
  return JoinWith(right, {.windows = windows, .type = JoinType::kOuter, .name = name}, value);
}

Stream Stream::JoinPrior(const Stream& right, const JoinWindows& windows, const std::string& name,
                         const JoinedValue& value) const {
  return JoinWith(right, {.windows = windows, .match = JoinMatch::kPrior, .name = name}, value);
}

}  // namespace kstream
