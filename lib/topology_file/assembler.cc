#include "topology_file/assembler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "topology/names.h"

namespace kstream::topology_file {
namespace {

// Far more than a person writes, and few enough to be walked by recursion.
constexpr size_t kMaxNodes = 5000;

const Kind* FindKind(std::string_view name) {
  const auto found = std::ranges::find(Kinds(), name, &Kind::name);
  return found == Kinds().end() ? nullptr : &*found;
}

std::vector<std::string_view> KindNames() {
  std::vector<std::string_view> names;
  for (const Kind& kind : Kinds()) names.push_back(kind.name);
  return names;
}

// The member of a node that says what it is.
Result<FileValue::Member> KindOf(const Fields& fields) {
  std::vector<FileValue::Member> kinds;
  for (const FileValue::Member& member : fields.members()) {
    if (FindKind(member.name) != nullptr) kinds.push_back(member);
  }
  if (kinds.size() > 1) {
    return kinds[1].name_value.Error(
        fmt::format("{} is a '{}' already: make '{}' a node of its own, with \"from\"",
                    fields.owner(), kinds[0].name, kinds[1].name));
  }
  if (!kinds.empty()) return kinds.front();
  for (const FileValue::Member& member : fields.members()) {
    const std::string near = DidYouMean(member.name, KindNames());
    if (near.empty() || member.name == "from") continue;
    return member.name_value.Error(fmt::format("'{}' is no kind of node{}", member.name, near));
  }
  return fields.object().Error(fmt::format("{} has no kind: give it one of {}", fields.owner(),
                                           fmt::join(KindNames(), ", ")));
}

// Where a message first quotes this name, or one that was made of it: 'NAME' or 'NAME-left'.
size_t Quoted(std::string_view message, std::string_view name) {
  const std::string quoted = fmt::format("'{}", name);
  size_t at = name.empty() ? message.npos : message.find(quoted);
  for (; at != message.npos; at = message.find(quoted, at + 1)) {
    const std::string_view rest = message.substr(at + quoted.size());
    if (rest.starts_with('\'') || rest.starts_with('-')) break;
  }
  return at;
}

}  // namespace

Result<BuiltTopology> Assembler::Build() && {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members,
                           nodes_value_.Members("an object of nodes"));
  if (members.empty()) return nodes_value_.Error("there is no node: a topology begins at a source");
  if (members.size() > kMaxNodes) {
    return nodes_value_.Error(fmt::format("{} nodes are more than {}", members.size(), kMaxNodes));
  }
  declared_.reserve(members.size());
  for (const FileValue::Member& member : members) KSTREAM_RETURN_IF_ERROR(Declare(member));
  for (size_t i = 0; i < declared_.size(); ++i) {
    KSTREAM_RETURN_IF_ERROR(DeclareNames(i, &declared_[i]));
  }
  for (Declared& declared : declared_) KSTREAM_RETURN_IF_ERROR(FindParents(&declared));
  KSTREAM_RETURN_IF_ERROR(LookAtSources());
  for (size_t i = 0; i < declared_.size(); ++i) KSTREAM_RETURN_IF_ERROR(Make(i));
  Result<Topology> topology = assembly_.builder.Build();
  if (!topology.ok()) return At(topology.status());
  return BuiltTopology{*std::move(topology), std::move(assembly_.nodes)};
}

Status Assembler::Declare(const FileValue::Member& member) {
  if (const auto wrong = WrongNodeName(member.name)) return member.name_value.Error(*wrong);
  KSTREAM_ASSIGN_OR_RETURN(Fields fields,
                           Fields::Of(member.value, fmt::format("node '{}'", member.name)));
  KSTREAM_ASSIGN_OR_RETURN(const FileValue::Member kind, KindOf(fields));
  fields.Take(kind.name);
  declared_.push_back({Node(member.name, kind.name, kind.value, std::move(fields)),
                       FindKind(kind.name),
                       {member.name, member.name_value}});
  return Status::Ok();
}

Status Assembler::DeclareNames(size_t number, Declared* declared) {
  std::vector<NameInFile> names;
  if (declared->kind->gives) names.push_back(declared->name);
  if (declared->kind->outputs != nullptr) {
    KSTREAM_ASSIGN_OR_RETURN(const auto outputs, declared->kind->outputs(&declared->node));
    names.insert(names.end(), outputs.begin(), outputs.end());
  }
  for (const NameInFile& name : names) {
    if (const auto wrong = WrongNodeName(name.name)) return name.at.Error(*wrong);
    const bool node = std::ranges::any_of(declared_, [&](const Declared& other) {
      return &other != declared && other.name.name == name.name;
    });
    if (node || !makers_.emplace(name.name, number).second) {
      return name.at.Error(
          fmt::format("'{}' is the name of something else, too: give each its own", name.name));
    }
  }
  return Status::Ok();
}

Status Assembler::FindParents(Declared* declared) {
  if (declared->kind->parents != nullptr) {
    KSTREAM_ASSIGN_OR_RETURN(declared->parents, declared->kind->parents(&declared->node));
  } else {
    KSTREAM_ASSIGN_OR_RETURN(const FileValue from, declared->node.fields().Need("from"));
    if (from.is_array()) {
      return from.Error("a node comes from one other: a \"merge\" brings several together");
    }
    KSTREAM_ASSIGN_OR_RETURN(std::string name, from.Text());
    declared->parents.push_back({std::move(name), from});
  }
  for (const NameInFile& parent : declared->parents) KSTREAM_RETURN_IF_ERROR(CheckParent(parent));
  return Status::Ok();
}

Status Assembler::CheckParent(const NameInFile& parent) const {
  if (makers_.contains(parent.name)) return Status::Ok();
  for (const Declared& declared : declared_) {
    if (declared.name.name != parent.name) continue;
    return parent.at.Error(
        declared.kind->name == "sink"
            ? fmt::format("'{}' is a sink: nothing comes from one", parent.name)
            : fmt::format("'{}' is a branch: name the one of its branches that is meant",
                          parent.name));
  }
  std::vector<std::string_view> names;
  for (const auto& [name, maker] : makers_) names.push_back(name);
  return parent.at.Error(
      fmt::format("there is no node '{}'{}", parent.name, DidYouMean(parent.name, names)));
}

Status Assembler::LookAtSources() {
  for (Declared& declared : declared_) {
    declared.node.SetParents({}, &assembly_);
    if (declared.kind->make != MakeSource && declared.kind->make != MakeTable) continue;
    KSTREAM_ASSIGN_OR_RETURN(const bool topic, ReadsTopic(&declared.node));
    assembly_.topics |= topic;
  }
  const RuntimeOptions& options = assembly_.options;
  assembly_.one_task =
      options.grouper == "single" || (!assembly_.topics && options.partitions == 1);
  if (assembly_.one_task) assembly_.builder.OneTask();
  return Status::Ok();
}

Status Assembler::Make(size_t number) {
  Declared& declared = declared_[number];
  using State = Declared::State;
  if (declared.state == State::kDone) return Status::Ok();
  declared.state = State::kOpen;
  std::vector<std::string> names;
  for (const NameInFile& parent : declared.parents) {
    const size_t above = makers_.find(parent.name)->second;
    if (declared_[above].state == State::kOpen) {
      return parent.at.Error(
          fmt::format("'{}' comes from '{}', which comes from it again: a cycle would never end",
                      declared.name.name, parent.name));
    }
    KSTREAM_RETURN_IF_ERROR(Make(above));
    names.push_back(parent.name);
  }
  declared.node.SetParents(std::move(names), &assembly_);
  KSTREAM_RETURN_IF_ERROR(declared.kind->make(&declared.node));
  KSTREAM_RETURN_IF_ERROR(declared.node.fields().Finish());
  assembly_.nodes.push_back(declared.node.shown());
  declared.state = State::kDone;
  return Status::Ok();
}

// Messages name what they are about before anything else. Of names that begin alike the longest is
// meant.
Status Assembler::At(const Status& mistake) const {
  const Declared* best = nullptr;
  std::pair<size_t, ptrdiff_t> best_rank = {mistake.message().npos, PTRDIFF_MIN};
  for (const Declared& declared : declared_) {
    const TopologyFileNode& node = declared.node.shown();
    for (const std::string& name : {node.name, node.store}) {
      const std::pair rank(Quoted(mistake.message(), name), -std::ssize(name));
      if (rank >= best_rank) continue;
      best = &declared;
      best_rank = rank;
    }
  }
  return best == nullptr ? nodes_value_.At(mistake) : best->name.at.At(mistake);
}

}  // namespace kstream::topology_file
