#include "runtime/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <utility>

namespace kstream::runtime {
namespace {

using Json = nlohmann::json;

constexpr int64_t kFormat = 1;
// More partitions than any cluster has. Bounds what a hostile record can make us allocate.
constexpr int64_t kMost = 1'000'000;

// Partitions first, first + 1, ... of a topic (by its place in ManifestStage::topics) in task, task
// + step, ...: a layout in few numbers that still says of each partition where it is. By default
// each topic is one run of step 1, `single` one run of step 0.
struct LayoutRun {
  int64_t topic, first, count, task, step;
};

std::vector<LayoutRun> RunsOf(const ManifestStage& stage) {
  std::vector<LayoutRun> runs;
  for (size_t topic = 0; topic < stage.topics.size(); topic++) {
    std::set<std::pair<int64_t, int64_t>> places;  // task and partition that no run has yet
    for (size_t task = 0; task < stage.tasks.size(); task++) {
      for (const InputPartition& partition : stage.tasks[task]) {
        if (partition.cluster == stage.topics[topic].cluster &&
            partition.topic == stage.topics[topic].topic) {
          places.emplace(task, partition.partition);
        }
      }
    }
    while (!places.empty()) {
      const auto [task, first] = *places.begin();
      const auto length = [&, task = task, first = first](int64_t step) {
        int64_t count = 1;
        while (places.contains({task + step * count, first + count})) count++;
        return count;
      };
      const int64_t step = length(1) > length(0) ? 1 : 0;
      const LayoutRun run{static_cast<int64_t>(topic), first, length(step), task, step};
      for (int64_t i = 0; i < run.count; i++) places.erase({task + step * i, first + i});
      runs.push_back(run);
    }
  }
  return runs;
}

constexpr std::pair<InternalTopic::Kind, std::string_view> kKinds[] = {
    {InternalTopic::Kind::kTasks, "tasks"},
    {InternalTopic::Kind::kChangelog, "changelog"},
    {InternalTopic::Kind::kRepartition, "repartition"}};

Json StageToJson(const ManifestStage& stage) {
  Json lead_runs = Json::array(), topics = Json::array(), layout = Json::array();
  for (const Lead::Run& run : stage.lead.runs) lead_runs.push_back({run.first, run.count});
  for (const InputTopic& topic : stage.topics) {
    topics.push_back(
        {{"cluster", topic.cluster}, {"topic", topic.topic}, {"partitions", topic.partitions}});
  }
  for (const LayoutRun& run : RunsOf(stage)) {
    layout.push_back({run.topic, run.first, run.count, run.task, run.step});
  }
  return {{"lead", stage.lead.topic},
          {"lead_runs", std::move(lead_runs)},
          {"grouper", stage.grouper},
          {"topics", std::move(topics)},
          {"layout", std::move(layout)}};
}

// Says only where; Unreadable says the rest.
Status Damaged(std::string_view where) { return {StatusCode::kState, std::string(where)}; }

// An older revision is no way out: what the lost one decided may have happened already.
Status Unreadable(std::string_view where) {
  return {StatusCode::kState,
          fmt::format("the manifest is damaged at {}: make the topic anew without this record, as "
                      "manifest.md says, or start under another application id (-G)",
                      where)};
}

// Members of an object, each of the type and in the range that it must have.
Result<int64_t> Number(const Json& in, const char* key, int64_t least, int64_t most) {
  const auto found = in.find(key);
  // A number of JSON that is larger than int64_t is no integer, or an unsigned one.
  if (found == in.end() || !found->is_number_integer()) return Damaged(key);
  if (found->is_number_unsigned() && found->get<uint64_t>() > static_cast<uint64_t>(most)) {
    return Damaged(key);
  }
  const auto number = found->get<int64_t>();
  if (number < least || number > most) return Damaged(key);
  return number;
}

Result<std::string> Text(const Json& in, const char* key) {
  const auto found = in.find(key);
  if (found == in.end() || !found->is_string()) return Damaged(key);
  return found->get<std::string>();
}

// The elements of the array are objects, if `objects`.
Result<const Json*> List(const Json& in, const char* key, bool objects) {
  const auto found = in.find(key);
  if (found == in.end() || !found->is_array()) return Damaged(key);
  if (objects && !std::ranges::all_of(*found, [](const Json& e) { return e.is_object(); })) {
    return Damaged(key);
  }
  return &*found;
}

// An array of `size` numbers from 0 to kMost.
Result<std::vector<int64_t>> Numbers(const Json& list, size_t size, const char* where) {
  if (!list.is_array() || list.size() != size) return Damaged(where);
  std::vector<int64_t> numbers;
  for (const Json& element : list) {
    if (!element.is_number_unsigned() || element.get<uint64_t>() > kMost) return Damaged(where);
    numbers.push_back(element.get<int64_t>());
  }
  return numbers;
}

Result<std::string> Incarnation(const Json& in, const char* key) {
  KSTREAM_ASSIGN_OR_RETURN(std::string text, Text(in, key));
  const bool good =
      text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!good) return Damaged(key);
  return text;
}

Result<std::vector<InputTopic>> ParseTopics(const Json& stage) {
  KSTREAM_ASSIGN_OR_RETURN(const Json* list, List(stage, "topics", true));
  std::vector<InputTopic> topics;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Json& element : *list) {
    KSTREAM_ASSIGN_OR_RETURN(std::string cluster, Text(element, "cluster"));
    KSTREAM_ASSIGN_OR_RETURN(std::string topic, Text(element, "topic"));
    KSTREAM_ASSIGN_OR_RETURN(int64_t partitions, Number(element, "partitions", 1, kMost));
    if (!seen.emplace(cluster, topic).second) return Damaged("topics");
    topics.push_back({std::move(cluster), std::move(topic), static_cast<int32_t>(partitions)});
  }
  return topics;
}

// `left` is how many places of partitions the manifest may still have.
Result<TaskLayout> ParseLayout(const Json& stage, const std::vector<InputTopic>& topics,
                               int64_t* left) {
  KSTREAM_ASSIGN_OR_RETURN(const Json* list, List(stage, "layout", false));
  std::vector<LayoutRun> runs;
  int64_t places = 0;
  for (const Json& element : *list) {
    KSTREAM_ASSIGN_OR_RETURN(const auto n, Numbers(element, 5, "layout"));
    const LayoutRun run{n[0], n[1], n[2], n[3], n[4]};
    const bool good = run.topic < std::ssize(topics) && run.count > 0 && run.step <= 1 &&
                      run.first + run.count <= topics[static_cast<size_t>(run.topic)].partitions;
    if (!good) return Damaged("layout");
    places += run.count;
    if (places > *left) return Damaged("layout");
    runs.push_back(run);
  }
  *left -= places;

  std::vector<std::set<std::pair<int64_t, int64_t>>> tasks;  // topic and partition
  std::set<std::pair<int64_t, int64_t>> found;
  for (const LayoutRun& run : runs) {
    // No task is empty, so there are not more of them than places.
    const int64_t last = run.task + run.step * (run.count - 1);
    if (last >= places) return Damaged("layout");
    tasks.resize(std::max(tasks.size(), static_cast<size_t>(last + 1)));
    for (int64_t i = 0; i < run.count; i++) {
      const std::pair place(run.topic, run.first + i);
      if (!tasks[static_cast<size_t>(run.task + run.step * i)].insert(place).second) {
        return Damaged("layout");
      }
      found.insert(place);
    }
  }
  int64_t all = 0;
  for (const InputTopic& topic : topics) all += topic.partitions;
  if (found.empty() || std::ssize(found) != all) return Damaged("layout");

  TaskLayout layout;
  for (const auto& task : tasks) {
    if (task.empty()) return Damaged("layout");
    auto& partitions = layout.emplace_back();
    for (const auto& [index, partition] : task) {
      const InputTopic& topic = topics[static_cast<size_t>(index)];
      partitions.push_back({topic.cluster, topic.topic, static_cast<int32_t>(partition)});
    }
  }
  return layout;
}

Result<Lead> ParseLead(const Json& stage, size_t tasks) {
  Lead lead;
  KSTREAM_ASSIGN_OR_RETURN(lead.topic, Text(stage, "lead"));
  KSTREAM_ASSIGN_OR_RETURN(const Json* runs, List(stage, "lead_runs", false));
  std::map<int64_t, int64_t> taken;  // first partition to the one after the last
  int64_t count = 0;
  for (const Json& run : *runs) {
    KSTREAM_ASSIGN_OR_RETURN(const auto n, Numbers(run, 2, "lead_runs"));
    if (n[1] == 0 || !taken.emplace(n[0], n[0] + n[1]).second) return Damaged("lead_runs");
    lead.runs.push_back({static_cast<int32_t>(n[0]), static_cast<int32_t>(n[1])});
    count += n[1];
  }
  int64_t end = 0;
  for (const auto& [first, after] : taken) {
    if (first < end) return Damaged("lead_runs");
    end = after;
  }
  if (lead.topic.empty() || count != static_cast<int64_t>(tasks)) return Damaged("lead_runs");
  return lead;
}

Result<ManifestStage> ParseStage(const Json& json, int64_t* left) {
  ManifestStage stage;
  KSTREAM_ASSIGN_OR_RETURN(stage.grouper, Text(json, "grouper"));
  KSTREAM_ASSIGN_OR_RETURN(stage.topics, ParseTopics(json));
  KSTREAM_ASSIGN_OR_RETURN(stage.tasks, ParseLayout(json, stage.topics, left));
  KSTREAM_ASSIGN_OR_RETURN(stage.lead, ParseLead(json, stage.tasks.size()));
  return stage;
}

Result<InternalTopic> ParseInternalTopic(const Json& json) {
  InternalTopic topic;
  KSTREAM_ASSIGN_OR_RETURN(topic.name, Text(json, "name"));
  KSTREAM_ASSIGN_OR_RETURN(const int64_t partitions, Number(json, "partitions", 1, kMost));
  topic.partitions = static_cast<int32_t>(partitions);
  KSTREAM_ASSIGN_OR_RETURN(const std::string kind, Text(json, "kind"));
  const auto found = std::ranges::find(kKinds, kind, [](auto& k) { return k.second; });
  if (topic.name.empty() || found == std::end(kKinds)) return Damaged("topics");
  topic.kind = found->first;
  if (json.contains("made")) {
    KSTREAM_ASSIGN_OR_RETURN(const int64_t made, Number(json, "made", 0, partitions));
    topic.made = static_cast<int32_t>(made);
  }
  return topic;
}

Status ParseLists(const Json& json, Manifest* manifest) {
  KSTREAM_ASSIGN_OR_RETURN(const Json* stages, List(json, "stages", true));
  int64_t left = kMost;
  for (const Json& element : *stages) {
    Result<ManifestStage> stage = ParseStage(element, &left);
    if (!stage.ok()) {
      return stage.status().At(fmt::format("stages[{}]", manifest->stages.size()));
    }
    manifest->stages.push_back(*std::move(stage));
  }
  KSTREAM_ASSIGN_OR_RETURN(const Json* topics, List(json, "topics", true));
  for (const Json& element : *topics) {
    KSTREAM_ASSIGN_OR_RETURN(InternalTopic topic, ParseInternalTopic(element));
    manifest->topics.push_back(std::move(topic));
  }
  KSTREAM_ASSIGN_OR_RETURN(const Json* stores, List(json, "stores", false));
  for (const Json& element : *stores) {
    if (!element.is_string()) return Damaged("stores");
    manifest->stores.push_back(element.get<std::string>());
  }
  return Status::Ok();
}

Result<Manifest> ParseMembers(const Json& json) {
  Manifest manifest;
  KSTREAM_ASSIGN_OR_RETURN(manifest.incarnation, Incarnation(json, "incarnation"));
  KSTREAM_ASSIGN_OR_RETURN(manifest.revision, Number(json, "revision", 0, INT64_MAX - 1));
  KSTREAM_ASSIGN_OR_RETURN(manifest.replaces, Text(json, "replaces"));
  if (!manifest.replaces.empty()) {
    KSTREAM_RETURN_IF_ERROR(Incarnation(json, "replaces").status());
  }
  KSTREAM_ASSIGN_OR_RETURN(manifest.version, Number(json, "version", INT64_MIN, INT64_MAX));
  KSTREAM_ASSIGN_OR_RETURN(manifest.hash, Text(json, "hash"));
  KSTREAM_RETURN_IF_ERROR(ParseLists(json, &manifest));
  return manifest;
}

}  // namespace

std::string NewIncarnation() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string WriteManifest(const Manifest& manifest) {
  Json stages = Json::array(), topics = Json::array();
  for (const ManifestStage& stage : manifest.stages) stages.push_back(StageToJson(stage));
  for (const InternalTopic& topic : manifest.topics) {
    const auto kind = std::ranges::find(kKinds, topic.kind, [](auto& k) { return k.first; });
    topics.push_back(
        {{"name", topic.name}, {"partitions", topic.partitions}, {"kind", kind->second}});
    if (topic.made > 0) topics.back()["made"] = topic.made;
  }
  const Json json = {{"format", kFormat},
                     {"incarnation", manifest.incarnation},
                     {"revision", manifest.revision},
                     {"replaces", manifest.replaces},
                     {"version", manifest.version},
                     {"hash", manifest.hash},
                     {"stages", std::move(stages)},
                     {"topics", std::move(topics)},
                     {"stores", manifest.stores}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Manifest> ParseManifest(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Unreadable("its beginning: it is no JSON object");
  const Result<int64_t> format = Number(json, "format", 1, INT64_MAX);
  if (!format.ok()) return Unreadable(format.status().message());
  if (*format > kFormat) {
    return Status(StatusCode::kState,
                  fmt::format("the manifest was written by a newer kstream: its format is {}, and "
                              "this one reads up to {}: run the newer one",
                              *format, kFormat));
  }
  Result<Manifest> manifest = ParseMembers(json);
  if (!manifest.ok()) return Unreadable(manifest.status().message());
  return manifest;
}

}  // namespace kstream::runtime
