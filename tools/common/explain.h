// Explain: a plan for people and programs: nodes, places, expressions and what runs them, tasks
// and the topics that would be created.
#ifndef KSTREAM_TOOLS_COMMON_EXPLAIN_H_
#define KSTREAM_TOOLS_COMMON_EXPLAIN_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/stage_plan.h"
#include "kstream/internal_topics.h"
#include "kstream/online_check.h"

namespace kstream::tools {

// `topology` is that of the plan; `form`: "text", "json" or "dot" (Graphviz).
std::string Explain(const StagePlan& plan, const Topology& topology, std::string_view tool,
                    std::string_view form);

struct ShownNode {
  std::string name, kind;
  std::vector<std::string> from, places;
  std::vector<std::pair<std::string, Expression>> expressions;
};

struct ShownStage {
  int number = 0;
  std::vector<std::string> nodes, stores;
  std::vector<int> upstream;
  std::string tasks;  // how many
};

// What is shown, whatever it is about.
struct Explanation {
  std::string title, name;
  std::vector<ShownNode> nodes = {};
  std::vector<ShownStage> stages = {};   // of a topology; else
  std::string tasks = {};                // of the one stage
  std::vector<std::string> create = {};  // topics, where they are missing
  // What stands in the way of equal results of two runs, and of exactly-once.
  std::vector<std::string> not_deterministic = {}, not_exactly_once = {};
  std::vector<TopicFacts> facts = {};            // what clusters say, where they were asked
  std::string state = {};                        // filled in by Print
  std::vector<InternalTopicNeed> internal = {};  // filled in by Print
};

std::string Print(Explanation plan, const Topology& topology, const RuntimeOptions& runtime,
                  std::string_view form);

// What a cluster says of a topic, for people.
std::string FactsText(const TopicFacts& facts);

// A place as people are shown it.
std::string PlaceText(const Location& location);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_EXPLAIN_H_
