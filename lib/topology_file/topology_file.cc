// TopologyFile: the file as a whole: its options, and its nodes, which the Assembler makes.
#include "kstream/topology_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "topology_file/assembler.h"
#include "topology_file/file_text.h"

namespace kstream {
namespace {

using topology_file::DidYouMean;
using topology_file::Fields;
using topology_file::FileText;
using topology_file::FileValue;

// Options of a run that a file may hold: all that are neither about reaching brokers nor about a
// node. They are what RuntimeOptions::Set takes.
constexpr std::string_view kOptions[] = {
    "app",           "from",       "exit-at-end", "close-at-end", "idle-advance", "limit",
    "timeout",       "partitions", "threads",     "guarantee",    "eos",          "commit-interval",
    "state-dir",     "store-type", "memory",      "standby",      "instance-id",  "grouper",
    "max-idle",      "max-skew",   "on-error",    "dead-letter",  "max-errors",   "partitioner",
    "create-output", "dry-run",
};

// Members of a file that are none of those.
constexpr std::string_view kOthers[] = {"nodes", "version", "s", "$schema", "description"};

Status CheckName(const FileValue::Member& member) {
  std::vector<std::string_view> names(std::begin(kOptions), std::end(kOptions));
  names.insert(names.end(), std::begin(kOthers), std::end(kOthers));
  if (std::ranges::find(names, member.name) != names.end()) return Status::Ok();
  const std::string near = DidYouMean(member.name, names);
  return member.name_value.Error(fmt::format(
      "a topology has no field '{}'{}", member.name,
      near.empty() ? ": nodes stand in \"nodes\", and options of a run have the names of flags"
                   : near));
}

// "off" for a switch is not to set it.
Status SetOption(const FileValue::Member& member, RuntimeOptions* options) {
  if (member.value.type() == json::Type::kFalse) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, member.value.FlagText());
  const Status status = options->Set(member.name, text);
  return status.ok() ? status : member.value.Error(status.message());
}

Status SetSerdes(FileValue value, RuntimeOptions* options) {
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(value, "'s'"));
  KSTREAM_ASSIGN_OR_RETURN(options->serdes.key, fields.TakeText("key", options->serdes.key));
  KSTREAM_ASSIGN_OR_RETURN(options->serdes.value, fields.TakeText("value", options->serdes.value));
  return fields.Finish();
}

Status SetVersion(FileValue value, RuntimeOptions* options) {
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, value.FlagText());
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), options->version);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && options->version >= 0) return Status::Ok();
  return value.Error(fmt::format("version {} is no whole number of at least 0", text));
}

}  // namespace

TopologyFile::TopologyFile(std::shared_ptr<const FileText> text) : text_(std::move(text)) {}

Result<TopologyFile> TopologyFile::Read(const std::string& path, TopologyVariables variables) {
  KSTREAM_ASSIGN_OR_RETURN(std::string text, FileText::Load(path));
  return Parse(std::move(text), path, std::move(variables));
}

Result<TopologyFile> TopologyFile::Parse(std::string text, std::string name,
                                         TopologyVariables variables) {
  KSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<const FileText> file,
                           FileText::Parse(std::move(text), std::move(name), std::move(variables)));
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members,
                           file->root().Members("an object with \"nodes\""));
  for (const FileValue::Member& member : members) KSTREAM_RETURN_IF_ERROR(CheckName(member));
  if (std::ranges::find(members, "nodes", &FileValue::Member::name) == members.end()) {
    return file->root().Error("there are no \"nodes\": a topology begins at a source");
  }
  if (const auto unused = file->UnusedVariables(); !unused.empty()) {
    return Status::Usage(fmt::format("{} is set, and {} has no ${{{}}}", unused.front(),
                                     file->name(), unused.front()));
  }
  return TopologyFile(std::move(file));
}

Status TopologyFile::Configure(RuntimeOptions* options) const {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members, text_->root().Members(""));
  for (const FileValue::Member& member : members) {
    if (member.name == "s") {
      KSTREAM_RETURN_IF_ERROR(SetSerdes(member.value, options));
    } else if (member.name == "version") {
      KSTREAM_RETURN_IF_ERROR(SetVersion(member.value, options));
    } else if (std::ranges::find(kOptions, member.name) != std::end(kOptions)) {
      KSTREAM_RETURN_IF_ERROR(SetOption(member, options));
    }
  }
  return Status::Ok();
}

Result<BuiltTopology> TopologyFile::Build(const RuntimeOptions& options,
                                          const TopologyFileDefaults& defaults) const {
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(text_->root(), "the topology"));
  KSTREAM_ASSIGN_OR_RETURN(const FileValue nodes, fields.Need("nodes"));
  return topology_file::Assembler(nodes, options, defaults).Build();
}

}  // namespace kstream
