// Sources, tables, sinks and topics in between: where records enter and leave.
#include <fmt/format.h>

#include <algorithm>

#include "kstream/operators.h"
#include "topology_file/node.h"

namespace kstream::topology_file {
namespace {

const std::vector<std::string_view> kFormats = {"json", "envelope", "raw", "csv", "tsv"};

// "s": {"key": SERDE, "value": SERDE}, or nothing.
Result<std::optional<SerdeNames>> TakeSerdes(Node* node) {
  const std::optional<FileValue> value = node->fields().Take("s");
  if (!value) return std::optional<SerdeNames>();
  SerdeNames serdes = node->assembly().options.serdes;
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(*value, "'s'"));
  KSTREAM_ASSIGN_OR_RETURN(serdes.key, fields.TakeText("key", serdes.key));
  KSTREAM_ASSIGN_OR_RETURN(serdes.value, fields.TakeText("value", serdes.value));
  KSTREAM_RETURN_IF_ERROR(fields.Finish());
  return std::optional<SerdeNames>(std::move(serdes));
}

// The function of a plugin.
Status TakeExtractor(Node* node, SourceSpec* source) {
  const std::optional<FileValue> value = node->fields().Take("extractor");
  if (!value) return Status::Ok();
  if (node->fields().Take("timestamp")) {
    return value->Error("'extractor' contradicts 'timestamp': one of them gives the time");
  }
  KSTREAM_ASSIGN_OR_RETURN(const std::string name, value->Text());
  const Plugins& plugins = node->assembly().defaults.plugins;
  const TimestampExtractor* const extractor = plugins.extractor(name);
  if (extractor == nullptr) {
    return value->Error(fmt::format("no plugin has an extractor '{}'{}", name,
                                    DidYouMean(name, plugins.extractors())));
  }
  source->extractor = *extractor;
  return Status::Ok();
}

Status TakeTime(Node* node, SourceSpec* source) {
  if (const std::optional<FileValue> value = node->fields().Take("timestamp")) {
    const Result<std::string> text = value->is_string() ? value->Text() : std::string();
    KSTREAM_RETURN_IF_ERROR(text.status());
    source->timestamp_expression.reset();
    if (*text == "record" || *text == "wallclock") {
      source->timestamp = *text;
      if (*text == "wallclock") node->ShowWallClock();
    } else {
      KSTREAM_ASSIGN_OR_RETURN(source->timestamp_expression, node->Compile("timestamp", *value));
    }
  }
  KSTREAM_ASSIGN_OR_RETURN(
      source->timestamp_unit,
      node->fields().TakeChoice("timestamp-unit", {"ms", "s", "us", "ns"}, source->timestamp_unit));
  return Status::Ok();
}

// The values of a field that is one or several.
Result<std::vector<FileValue>> OneOrMore(FileValue value) {
  if (!value.is_array()) return std::vector<FileValue>{value};
  KSTREAM_ASSIGN_OR_RETURN(std::vector<FileValue> items, value.Items("places"));
  if (items.empty()) return value.Error("there is no input in it: name at least one");
  return items;
}

Result<SourceSpec> TakeSource(Node* node) {
  SourceSpec source = node->assembly().defaults.source;
  source.inputs.clear();
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue> places, OneOrMore(node->value()));
  for (const FileValue& place : places) {
    KSTREAM_ASSIGN_OR_RETURN(Location input, node->Place(place));
    if (std::ranges::find(source.inputs, input) != source.inputs.end()) {
      return place.Error(fmt::format("{} is read twice", input.ToString()));
    }
    source.inputs.push_back(std::move(input));
  }
  KSTREAM_ASSIGN_OR_RETURN(source.format, node->fields().TakeChoice("in", kFormats, source.format));
  KSTREAM_ASSIGN_OR_RETURN(source.serdes, TakeSerdes(node));
  if (node->fields().Take("key")) {
    KSTREAM_ASSIGN_OR_RETURN(source.key, node->TakeExpression("key"));
  }
  KSTREAM_RETURN_IF_ERROR(TakeTime(node, &source));
  KSTREAM_RETURN_IF_ERROR(TakeExtractor(node, &source));
  return source;
}

// The default grouper gives partitions of one number to one task, so that the keys of a topic, and
// of several that have equally many partitions, are together; any other may scatter them. Several
// topics are held to have equally many only where there is an application.
bool Scatters(const RuntimeOptions& options, const SourceSpec& source) {
  const bool several = source.inputs.size() > 1 || source.inputs.front().is_pattern();
  const bool topics = std::ranges::any_of(source.inputs, &Location::is_topic);
  if (!topics || options.grouper == "single") return false;
  return options.grouper != "default" || (several && options.app.empty());
}

}  // namespace

Result<bool> ReadsTopic(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue> places, OneOrMore(node->value()));
  const RuntimeOptions& options = node->assembly().options;
  std::set<std::string> clusters;
  for (const auto& [name, cluster] : options.clusters) clusters.insert(name);
  for (const FileValue& place : places) {
    KSTREAM_ASSIGN_OR_RETURN(const std::string text, place.Text());
    const auto location = Location::Parse(text, !options.home.brokers.empty(), clusters);
    if (location.ok() && location->is_topic()) return true;
  }
  return false;
}

Status MakeSource(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(SourceSpec source, TakeSource(node));
  const bool scattered = Scatters(node->assembly().options, source);
  node->Give(node->assembly().builder.Source(std::move(source), node->name()), scattered);
  return Status::Ok();
}

Status MakeTable(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(SourceSpec source, TakeSource(node));
  KSTREAM_ASSIGN_OR_RETURN(const std::string store, node->TakeStore());
  node->ShowReach(TopologyFileNode::kForGood);
  node->GiveTable(node->assembly().builder.Table(std::move(source), store));
  return Status::Ok();
}

Status MakeSink(Node* node) {
  SinkSpec sink = node->assembly().defaults.sink;
  Stream stream = node->parent().stream;
  KSTREAM_ASSIGN_OR_RETURN(const std::string place, node->value().Text());
  // No topic can be called so: it stands for the one that the record names.
  sink.topic_of_record = place == "$topic";
  if (!sink.topic_of_record) {
    KSTREAM_ASSIGN_OR_RETURN(sink.output, node->Place(node->value()));
    if (sink.output.is_pattern()) {
      return node->value().Error(fmt::format("{} is a pattern, which can only be read", place));
    }
  } else if (node->assembly().options.home.brokers.empty()) {
    return node->value().At(Status::Usage(
        "$topic is the topic that each record names, and no brokers are known: name them with "
        "--brokers"));
  }
  Fields& fields = node->fields();
  const bool prints = fields.Take("out").has_value();
  KSTREAM_ASSIGN_OR_RETURN(sink.format, fields.TakeChoice("out", kFormats, sink.format));
  if (const std::optional<FileValue> format = fields.Take("format")) {
    if (prints) return format->Error("'format' contradicts 'out': one of them says how to print");
    sink.format = "format";
    KSTREAM_ASSIGN_OR_RETURN(sink.format_text, format->Text());
  }
  KSTREAM_ASSIGN_OR_RETURN(sink.serdes, TakeSerdes(node));
  KSTREAM_ASSIGN_OR_RETURN(std::optional<Expression> partition, node->TakeExpression("partition"));
  sink.partition_of_record = partition.has_value();
  // Every record has the number that it came with, or that a node above gave it.
  if (partition && partition->text() != "$partition") {
    Result<ProcessorSupplier> route = Filter({.keep = *Expression::Compile("true"),
                                              .negate = false,
                                              .kept = {},
                                              .rest = {},
                                              .route = {.to = {}, .partition = *partition},
                                              .serdes = stream.serdes()});
    if (!route.ok()) return node->fields().object().Error(route.status().message());
    stream = stream.Process(*std::move(route), node->name() + "-partition");
  }
  stream.To(std::move(sink), node->name());
  return Status::Ok();
}

Status MakeThrough(Node* node) {
  const Stream& stream = node->parent().stream;
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, node->value().Text());
  const bool brokers = !node->assembly().options.home.brokers.empty();
  // Without brokers the topic lies in this process.
  if (!brokers && !text.starts_with("file:") && text != "-") {
    node->ShowPlace(Location::Repartition(text));
    node->Give(stream.Repartition(node->name()), false);
    return Status::Ok();
  }
  KSTREAM_ASSIGN_OR_RETURN(Location topic, node->Place(node->value()));
  if (!topic.is_topic() || topic.is_pattern()) {
    return node->value().Error(
        fmt::format("'{}' is no topic, which can be written and read", text));
  }
  node->Give(stream.Through(std::move(topic), node->name()), false);
  return Status::Ok();
}

}  // namespace kstream::topology_file
