#include "topology_test/test_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kstream/units.h"
#include "topology_file/fields.h"
#include "topology_test/values.h"

namespace kstream::topology_test {
namespace {

using topology_file::Fields;
using topology_file::FileText;
using topology_file::FileValue;
using Members = std::vector<FileValue::Member>;

// --- single actions ---

Result<Input> ParseInput(FileValue value) {
  Input input;
  KSTREAM_ASSIGN_OR_RETURN(const Members topics, value.Members("an object of topics"));
  for (const FileValue::Member& topic : topics) {
    auto& [name, records] =
        input.topics.emplace_back(Input::Topic{{topic.name, topic.name_value}, {}});
    KSTREAM_ASSIGN_OR_RETURN(const auto items, topic.value.Items("an array of records"));
    for (const FileValue& item : items) {
      KSTREAM_ASSIGN_OR_RETURN(TestRecord record, ParseRecord(item));
      records.emplace_back(std::move(record), item);
    }
  }
  return input;
}

// [ITEM, ..], or {"any-order": [ITEM, ..]}.
Result<Expectation> ParseExpectation(const FileValue::Member& member, WantedItem::What what) {
  Expectation expectation{{member.name, member.name_value}, member.value};
  const std::string_view items_name = what == WantedItem::What::kRow ? "rows" : "records";
  if (member.value.is_object()) {
    KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(member.value, "what is expected"));
    KSTREAM_ASSIGN_OR_RETURN(expectation.list, fields.Need("any-order"));
    KSTREAM_RETURN_IF_ERROR(fields.Finish());
    expectation.any_order = true;
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto items,
                           expectation.list.Items(fmt::format(
                               "an array of {0}, or {{\"any-order\": [..]}}", items_name)));
  for (const FileValue& item : items) {
    KSTREAM_ASSIGN_OR_RETURN(WantedItem wanted, WantedItem::Parse(item, what));
    expectation.items.push_back(std::move(wanted));
  }
  return expectation;
}

Result<std::vector<Expectation>> ParseExpectations(FileValue value, WantedItem::What what) {
  const bool rows = what == WantedItem::What::kRow;
  KSTREAM_ASSIGN_OR_RETURN(const Members members,
                           value.Members(rows ? "an object of stores" : "an object of topics"));
  std::vector<Expectation> expectations;
  for (const FileValue::Member& member : members) {
    KSTREAM_ASSIGN_OR_RETURN(Expectation expectation, ParseExpectation(member, what));
    // Tasks are walked one by one, and the order of rows in a store is nobody's business.
    if (rows) expectation.any_order = true;
    expectations.push_back(std::move(expectation));
  }
  return expectations;
}

Result<std::optional<int64_t>> ParseOffset(FileValue value) {
  if (value.is_null()) return std::optional<int64_t>();
  KSTREAM_ASSIGN_OR_RETURN(const int64_t offset, ParseCount(value, INT64_MAX));
  return std::optional(offset);
}

// {"TOPIC": OFFSET, "TOPIC": [OFFSET of partition 0, ..]}; null: none.
Result<ExpectCommits> ParseCommits(FileValue value) {
  ExpectCommits commits;
  KSTREAM_ASSIGN_OR_RETURN(const Members topics, value.Members("an object of topics"));
  for (const FileValue::Member& topic : topics) {
    ExpectCommits::Topic expected{{topic.name, topic.name_value}, topic.value, {}};
    std::vector<FileValue> offsets = {topic.value};
    if (topic.value.is_array()) {
      KSTREAM_ASSIGN_OR_RETURN(offsets, topic.value.Items(""));
      if (offsets.empty()) return topic.value.Error("there is no offset: a partition has one each");
    }
    for (const FileValue& at : offsets) {
      KSTREAM_ASSIGN_OR_RETURN(const auto offset, ParseOffset(at));
      expected.offsets.push_back(offset);
    }
    commits.topics.push_back(std::move(expected));
  }
  return commits;
}

Result<AdvanceClock> ParseAdvance(FileValue value) {
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, value.Text());
  const auto by = ParseDuration(text);
  if (!by.ok()) return value.Error(by.status().message());
  return AdvanceClock{*by};
}

Status ParseTrue(FileValue value) {
  if (value.type() == json::Type::kTrue) return Status::Ok();
  return value.Error("takes true");
}

Result<Crash> ParseCrash(FileValue value) {
  if (value.type() == json::Type::kTrue) return Crash{};
  KSTREAM_ASSIGN_OR_RETURN(const int64_t thread, ParseCount(value, INT32_MAX));
  return Crash{static_cast<int>(thread)};
}

Result<Rebalance> ParseRebalance(FileValue value) {
  if (value.type() == json::Type::kTrue) return Rebalance{};
  KSTREAM_ASSIGN_OR_RETURN(const std::string how, value.Text());
  if (how == "join") return Rebalance{Rebalance::How::kJoin};
  if (how == "leave") return Rebalance{Rebalance::How::kLeave};
  if (how == "evict") return Rebalance{Rebalance::How::kEvict};
  return value.Error(fmt::format("'{}' is none of join, leave, evict{}", how,
                                 topology_file::DidYouMean(how, {"join", "leave", "evict"})));
}

// --- steps ---

constexpr std::string_view kActions[] = {
    "input",     "expect",  "stores", "commits",     "advance-wall-clock",
    "rebalance", "restart", "crash",  "end-of-input"};

template <typename Parsed>
Status Add(FileValue at, Result<Parsed> parsed, std::vector<Action>* actions) {
  KSTREAM_RETURN_IF_ERROR(parsed.status());
  actions->push_back({at, *std::move(parsed)});
  return Status::Ok();
}

Status AddAction(const std::string& name, FileValue at, FileValue value,
                 std::vector<Action>* actions) {
  if (name == "input") return Add(at, ParseInput(value), actions);
  if (name == "commits") return Add(at, ParseCommits(value), actions);
  if (name == "advance-wall-clock") return Add(at, ParseAdvance(value), actions);
  if (name == "crash") return Add(at, ParseCrash(value), actions);
  if (name == "rebalance") return Add(at, ParseRebalance(value), actions);
  if (name == "expect") {
    KSTREAM_ASSIGN_OR_RETURN(auto topics, ParseExpectations(value, WantedItem::What::kRecord));
    actions->push_back({at, ExpectTopics{std::move(topics)}});
  } else if (name == "stores") {
    KSTREAM_ASSIGN_OR_RETURN(auto stores, ParseExpectations(value, WantedItem::What::kRow));
    actions->push_back({at, ExpectStores{std::move(stores)}});
  } else {
    KSTREAM_RETURN_IF_ERROR(ParseTrue(value));
    name == "restart" ? actions->push_back({at, Restart{}}) : actions->push_back({at, EndInput{}});
  }
  return Status::Ok();
}

// An object of actions, in their order; or the name of one that needs nothing said.
Status AddStep(FileValue step, std::vector<Action>* actions) {
  const std::vector<std::string_view> names(std::begin(kActions), std::end(kActions));
  if (step.is_string()) {
    KSTREAM_ASSIGN_OR_RETURN(const std::string name, step.Text());
    if (name == "restart") actions->push_back({step, Restart{}});
    if (name == "crash") actions->push_back({step, Crash{}});
    if (name == "rebalance") actions->push_back({step, Rebalance{}});
    if (name == "end-of-input") actions->push_back({step, EndInput{}});
    if (name == "restart" || name == "crash" || name == "rebalance" || name == "end-of-input") {
      return Status::Ok();
    }
    if (std::ranges::find(names, name) != names.end()) {
      return step.Error(fmt::format("'{0}' does not stand for itself: give {{\"{0}\": ..}}", name));
    }
    return step.Error(fmt::format("'{}' is no step that stands for itself{}", name,
                                  topology_file::DidYouMean(name, names)));
  }
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(step, "a step"));
  for (const std::string_view name : names) fields.Take(name);
  KSTREAM_RETURN_IF_ERROR(fields.Finish());
  for (const auto& [name, at, value] : fields.members()) {
    KSTREAM_RETURN_IF_ERROR(AddAction(name, at, value, actions));
  }
  return Status::Ok();
}

// --- cases ---

Result<std::optional<ExpectExit>> TakeExit(Fields* fields) {
  const auto code = fields->Take("exit");
  const auto error = fields->Take("error");
  if (!code && !error) return std::optional<ExpectExit>();
  if (!code) return error->Error("'error' is of an application that fails: give 'exit', too");
  ExpectExit exit{.at = *code};
  KSTREAM_ASSIGN_OR_RETURN(const int64_t number, ParseCount(*code, 255));
  exit.code = static_cast<int>(number);
  if (error) {
    KSTREAM_ASSIGN_OR_RETURN(exit.error, PlainText(*error, "a part of the message"));
  }
  return std::optional(std::move(exit));
}

// Whether it looks at anything.
bool Expects(const Action& action) {
  if (const auto* const expect = std::get_if<ExpectTopics>(&action.what)) {
    return !expect->topics.empty();
  }
  if (const auto* const rows = std::get_if<ExpectStores>(&action.what)) {
    return !rows->stores.empty();
  }
  const auto* const commits = std::get_if<ExpectCommits>(&action.what);
  return commits != nullptr && !commits->topics.empty();
}

Result<Case> ParseCase(FileValue value, const Settings& settings) {
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(value, "a case"));
  KSTREAM_ASSIGN_OR_RETURN(const FileValue name, fields.Need("name"));
  Case test{.at = name, .settings = settings};
  KSTREAM_ASSIGN_OR_RETURN(test.name, PlainText(name, "a name"));
  if (test.name.empty()) return name.Error("the name is empty");
  fields.Take("description");
  KSTREAM_RETURN_IF_ERROR(test.settings.Take(&fields));
  const auto add = [&](const char* action) {
    const auto found = fields.Take(action);
    return found ? AddAction(action, *found, *found, &test.actions) : Status::Ok();
  };
  KSTREAM_RETURN_IF_ERROR(add("input"));
  if (const auto steps = fields.Take("steps")) {
    KSTREAM_ASSIGN_OR_RETURN(const auto items, steps->Items("an array of steps"));
    for (const FileValue& step : items) KSTREAM_RETURN_IF_ERROR(AddStep(step, &test.actions));
  }
  for (const char* check : {"expect", "stores", "commits"}) KSTREAM_RETURN_IF_ERROR(add(check));
  KSTREAM_ASSIGN_OR_RETURN(test.exit, TakeExit(&fields));
  KSTREAM_RETURN_IF_ERROR(fields.Finish());
  if (!test.exit && std::ranges::none_of(test.actions, Expects))
    return name.Error("the case expects nothing: give 'expect'");
  return test;
}

}  // namespace

Result<TestFile> TestFile::Read(const std::string& path) {
  KSTREAM_ASSIGN_OR_RETURN(std::string text, FileText::Load(path));
  return Parse(std::move(text), path);
}

Result<TestFile> TestFile::Parse(std::string text, std::string name) {
  TestFile file;
  KSTREAM_ASSIGN_OR_RETURN(file.text, FileText::Parse(std::move(text), std::move(name), {}));
  KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(file.text->root(), "a test file"));
  fields.Take("$schema");
  fields.Take("description");
  if (const auto topology = fields.Take("topology")) {
    KSTREAM_ASSIGN_OR_RETURN(std::string path, topology->Text());
    file.topology = Name{std::move(path), *topology};
  }
  Settings settings;
  KSTREAM_RETURN_IF_ERROR(settings.Take(&fields));
  const auto cases = fields.Take("cases");
  KSTREAM_RETURN_IF_ERROR(fields.Finish());
  if (!cases) return file.text->root().Error("a test file lacks 'cases'");
  KSTREAM_ASSIGN_OR_RETURN(const auto items, cases->Items("an array of cases"));
  if (items.empty()) return cases->Error("there is no case: a test of nothing passes for nothing");
  std::set<std::string> names;
  for (const FileValue& item : items) {
    KSTREAM_ASSIGN_OR_RETURN(Case test, ParseCase(item, settings));
    if (!names.insert(test.name).second) {
      return test.at.Error(fmt::format("'{}' is the name of another case, too", test.name));
    }
    file.cases.push_back(std::move(test));
  }
  return file;
}

}  // namespace kstream::topology_test
