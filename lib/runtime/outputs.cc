#include "runtime/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kstream::runtime {
namespace {

Status CreateOutputTopics(const RunState& state) {
  for (const Location& output : SinkLocations(state)) {
    if (output.is_topic())
      KSTREAM_RETURN_IF_ERROR(CreateOutput(state, output.cluster, output.name));
  }
  return Status::Ok();
}

Status WrittenTwice(const std::string& a, const std::string& b) {
  return Status::Usage(
      a == b
          ? fmt::format("{} is the place of two outputs: give each its own",
                        a == "-" ? "stdout" : a)
          : fmt::format("{} and {} are one file, and the place of two outputs: give each its own",
                        a == "-" ? "stdout" : a, b == "-" ? "stdout" : b));
}

}  // namespace

Status CreateOutput(const RunState& state, const std::string& cluster, const std::string& topic) {
  if (!state.options.create_output || state.options.dry_run) return Status::Ok();
  const auto [partitions, replication] = *state.options.create_output;
  KSTREAM_ASSIGN_OR_RETURN(const auto admin, state.clusters.at(cluster)->NewAdmin());
  return admin->CreateTopic(topic, partitions, static_cast<int16_t>(replication)).status();
}

std::vector<Location> SinkLocations(const RunState& state) {
  std::vector<Location> locations;
  for (const TopologyNode& node : state.graph().nodes) {
    if (node.kind == TopologyNode::Kind::kSink && !node.sink.topic_of_record) {
      locations.push_back(state.Resolve(node.sink.output));
    }
  }
  if (state.options.dead_letter) locations.push_back(*state.options.dead_letter);
  return locations;
}

Status OutputFiles::Open(const RunState& state) {
  std::map<transport::FileId, std::string> inputs;
  for (const Location& input : state.Inputs()) {
    const auto id = input.is_topic() ? std::nullopt : transport::IdOfInput(input.name);
    if (id) inputs.emplace(*id, input.name);
  }
  if (state.options.dry_run) return Status::Ok();
  // A run that goes on where the last one of its group stopped goes on with the files of that one
  // too.
  const bool append = state.grouped();
  std::map<transport::FileId, std::string> outputs;
  for (const Location& output : SinkLocations(state)) {
    if (output.is_topic()) continue;
    if (files_.contains(output.name)) return WrittenTwice(output.name, output.name);
    KSTREAM_ASSIGN_OR_RETURN(auto file, transport::FileOutput::Open(output.name, append));
    const auto id = file->id();
    files_.emplace(output.name, std::move(file));
    if (!id) continue;
    if (const auto input = inputs.find(*id); input != inputs.end()) {
      return Status::Usage(fmt::format("{} is both input and output: write to another file",
                                       output.name == "-" ? "stdout" : output.name));
    }
    const auto [other, fresh] = outputs.emplace(*id, output.name);
    if (!fresh) return WrittenTwice(other->second, output.name);
  }
  for (auto& [name, file] : files_) {
    if (!append) KSTREAM_RETURN_IF_ERROR(file->Truncate());
  }
  return Status::Ok();
}

transport::FileOutput* OutputFiles::Find(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : found->second.get();
}

bool OutputFiles::closed() const {
  return std::any_of(files_.begin(), files_.end(),
                     [](auto& file) { return file.second->closed(); });
}

Status OutputFiles::Close() {
  Status first;
  for (auto& [path, file] : files_) {
    if (Status status = file->Close(); !status.ok() && first.ok()) first = status;
  }
  return first;
}

Status OpenOutputs(const RunState& state, OutputFiles* files) {
  KSTREAM_RETURN_IF_ERROR(CreateOutputTopics(state));
  return files->Open(state);
}

}  // namespace kstream::runtime
