// The kinds of nodes. A kind is a row here and a function that makes it.
#include "topology_file/node.h"

namespace kstream::topology_file {
namespace {

Result<std::vector<NameInFile>> NoParents(Node*) { return std::vector<NameInFile>(); }

Status NotYet(Node* node) {
  return node->value().Error("nodes of this kind cannot be run by this version of kstream");
}

constexpr Kind kKinds[] = {
    {"source", NoParents, nullptr, MakeSource},
    {"table", NoParents, nullptr, MakeTable},
    {"global-table", NoParents, nullptr, NotYet},
    {"sink", nullptr, nullptr, MakeSink, false},
    {"filter", nullptr, nullptr, MakeFilter},
    {"filter-not", nullptr, nullptr, MakeFilter},
    {"map", nullptr, nullptr, MakeMap},
    {"map-values", nullptr, nullptr, MakeMapValues},
    {"flat-map", nullptr, nullptr, MakeMap},
    {"flat-map-values", nullptr, nullptr, MakeMapValues},
    {"select-key", nullptr, nullptr, MakeSelectKey},
    {"branch", nullptr, BranchOutputs, MakeBranch, false},
    {"merge", MergedParents, nullptr, MakeMerge},
    {"through", nullptr, nullptr, MakeThrough},
    {"aggregate", nullptr, LateOutput, MakeAggregate},
    {"join", JoinedParents, LateOutput, MakeJoin},
    {"unique", nullptr, UniqueRest, MakeUnique},
    {"peek", nullptr, nullptr, MakePeek},
    {"process", nullptr, nullptr, MakeProcess},
};

}  // namespace

std::span<const Kind> Kinds() { return kKinds; }

}  // namespace kstream::topology_file
