// Files to topologies: what each kind becomes, and what is refused, where and in which words.
#include "kstream/topology_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kstream {
namespace {

using testing::HasSubstr;

RuntimeOptions Kafka() {
  RuntimeOptions options;
  options.home.brokers = "k:9092";
  options.app = "app";
  return options;
}

// The message that refuses `text`.
std::string Refusal(const std::string& text, const RuntimeOptions& options = Kafka()) {
  const auto file = TopologyFile::Parse(text, "f", {.given = {}, .environment = false});
  if (!file.ok()) {
    EXPECT_EQ(file.status().code(), StatusCode::kExpression);
    return std::string(file.status().message());
  }
  RuntimeOptions configured = options;
  if (const Status status = file->Configure(&configured); !status.ok()) {
    return std::string(status.message());
  }
  const auto built = file->Build(configured);
  EXPECT_FALSE(built.ok()) << text;
  EXPECT_EQ(built.status().code(), StatusCode::kExpression);
  return std::string(built.status().message());
}

std::string Nodes(const std::string& nodes) { return R"({"nodes":{)" + nodes + "}}"; }

// What is built of these nodes, as text.
std::string Described(const std::string& nodes, const RuntimeOptions& options = Kafka()) {
  const auto file = TopologyFile::Parse(Nodes(nodes), "f", {.given = {}, .environment = false});
  EXPECT_TRUE(file.ok()) << file.status().message();
  if (!file.ok()) return "";
  const auto built = file->Build(options);
  EXPECT_TRUE(built.ok()) << built.status().message();
  return built.ok() ? built->topology.Describe() : "";
}

constexpr const char* kIn = R"("in":{"source":"orders"},)";

TEST(TopologyFileTest, EachKindBecomesItsOperator) {
  const std::string text = Described(std::string(kIn) + R"(
    "big":   {"from":"in","filter":".amount > 100"},
    "small": {"from":"in","filter-not":{">":[{"var":"amount"},100]}},
    "key":   {"from":"big","select-key":".user"},
    "one":   {"from":"key","map":"{user}","set-key":"$out.user"},
    "many":  {"from":"one","flat-map":".items[]","tombstone":".gone",
              "header":[{"name":"h","value":".x"}]},
    "v":     {"from":"many","map-values":".a"},
    "vs":    {"from":"v","flat-map-values":".b[]"},
    "fork":  {"from":"vs","branch":[{"name":"eu","when":".eu"},{"name":"rest"}]},
    "again": {"merge":["eu","rest","small"]},
    "seen":  {"from":"again","peek":".id"},
    "out":   {"from":"seen","sink":"out"})");
  for (const char* does : {"does filter '.amount > 100'", "does select-key .user", "does map",
                           "does flat-map", "does branch eu=.eu otherwise rest", "does merge",
                           "input topic:orders", "output topic:out"}) {
    EXPECT_THAT(text, HasSubstr(does));
  }
}

TEST(TopologyFileTest, NodesMayStandInAnyOrder) {
  EXPECT_EQ(Described(R"("out":{"from":"f","sink":"o"},"f":{"from":"in","filter":".x"},
                         "in":{"source":"orders"})"),
            Described(R"("in":{"source":"orders"},"f":{"from":"in","filter":".x"},
                         "out":{"from":"f","sink":"o"})"));
}

TEST(TopologyFileTest, AnAggregateByAnotherKeyIsRepartitionedWhereThereAreSeveralTasks) {
  const std::string nodes = std::string(kIn) + R"(
    "n":  {"from":"in","aggregate":{"by":".user","count":"n","sum":{"total":".amount"}}},
    "out":{"from":"n","sink":"out"})";
  EXPECT_THAT(Described(nodes), HasSubstr("output repartition:n"));
  RuntimeOptions files;
  EXPECT_THAT(Described(nodes, files), Not(HasSubstr("repartition:n")));
  files.partitions = 2;
  EXPECT_THAT(Described(nodes, files), HasSubstr("output repartition:n"));
  RuntimeOptions single = Kafka();
  single.grouper = "single";
  EXPECT_THAT(Described(nodes, single), Not(HasSubstr("repartition:n")));
}

TEST(TopologyFileTest, EmitIsWhatTheAggregateToolWouldChoose) {
  const std::string nodes = std::string(kIn) + R"(
    "n":{"from":"in","aggregate":{"count":true}},"out":{"from":"n","sink":"out"})";
  EXPECT_THAT(Described(nodes), HasSubstr("--emit update"));
  EXPECT_THAT(Described(nodes, RuntimeOptions()), HasSubstr("--emit final"));
}

TEST(TopologyFileTest, AJoinBringsBothSidesTogetherByKey) {
  const auto nodes = [](const std::string& fields) {
    return R"("l":{"source":"left"},"r":{"source":"right","key":".k"},
      "j":{"join":{"left":"l","right":"r","within":"5s")" +
           fields + R"(},"store":"s"},"out":{"from":"j","sink":"out"})";
  };
  const std::string text = Described(nodes(R"(,"grace":"1s")"));
  EXPECT_THAT(text, HasSubstr("does join --type inner --before 5000ms --after 5000ms "
                              "--grace 1000ms"));
  // Topics are named after the state, as those of kstream-join.
  EXPECT_THAT(text, HasSubstr("output repartition:s-right"));
  EXPECT_THAT(text, Not(HasSubstr("repartition:s-left")));
  EXPECT_THAT(text, HasSubstr("processor j\n"));
  EXPECT_THAT(Described(nodes(R"(,"left-key":".k")")), HasSubstr("output repartition:s-left"));
  EXPECT_THAT(Described(nodes(R"(,"type":"left","prior":true)")),
              HasSubstr("--type left --prior --before 5000ms --after 0ms"));
  EXPECT_THAT(Described(nodes(R"(,"prior":true,"latest":true,"value":"$left")")),
              HasSubstr("--latest --before 5000ms --after 0ms --grace 0ms --value '$left'"));
  RuntimeOptions by_topic = Kafka();
  by_topic.grouper = "by-topic";
  EXPECT_THAT(Described(nodes(""), by_topic), HasSubstr("output repartition:s-left"));
  EXPECT_THAT(Described(nodes(""), RuntimeOptions()), Not(HasSubstr("repartition")));
}

TEST(TopologyFileTest, AJoinWithATableIsToldByItsNodes) {
  const auto nodes = [](const std::string& left, const std::string& right,
                        const std::string& fields = "", const std::string& more = "") {
    return R"("s":{"source":"orders"},"k":{"from":"s","select-key":".k"},"u":{"table":"users"},
      "v":{"table":"others"},"n":{"from":"s","aggregate":{"count":true}},
      "w":{"from":"s","aggregate":{"count":true,"window":"tumbling:1m"}},
      "j":{"join":{"left":")" +
           left + R"(","right":")" + right + "\"" + fields + "}" + more +
           R"(},"out":{"from":"j","sink":"out"})";
  };
  const std::string text = Described(nodes("s", "u", R"(,"type":"left")"));
  EXPECT_THAT(text, HasSubstr("does join-table --type left"));
  // The rows are in the table's own store.
  EXPECT_THAT(text, Not(HasSubstr("store j\n")));
  EXPECT_THAT(text, Not(HasSubstr("repartition")));
  EXPECT_THAT(Described(nodes("k", "u")), HasSubstr("output repartition:j-left"));
  EXPECT_THAT(Described(nodes("s", "u", R"(,"left-key":".k")")),
              HasSubstr("output repartition:j-left"));
  // Those of an aggregate are kept by whoever joins with them.
  EXPECT_THAT(Described(nodes("s", "n", "", R"(,"store":"mine")")), HasSubstr("store mine\n"));
  const std::string tables = Described(nodes("u", "v", R"(,"type":"outer")"));
  EXPECT_THAT(tables, HasSubstr("does join-tables --type outer"));
  EXPECT_THAT(tables, HasSubstr("store j-left\n"));
  // A table's changes are a stream to the left of one; rows of windows are no table.
  EXPECT_THAT(Described(nodes("u", "s", R"(,"within":"1s")")), HasSubstr("does join --type inner"));
  EXPECT_THAT(Described(nodes("s", "w", R"(,"within":"1s")")), HasSubstr("does join --type inner"));

  EXPECT_THAT(Refusal(Nodes(nodes("s", "u", R"(,"type":"outer")"))),
              HasSubstr("f:4:19: a row of a table does not come out alone"));
  EXPECT_THAT(Refusal(Nodes(nodes("s", "u", R"(,"within":"1s")"))),
              HasSubstr("f:4:43: the join of 'j' has no field 'within'"));
  EXPECT_THAT(Refusal(Nodes(nodes("s", "u", "", R"(,"store":"x")"))),
              HasSubstr("node 'j' has no field 'store'"));
  RuntimeOptions by_topic = Kafka();
  by_topic.grouper = "by-topic";
  EXPECT_THAT(Refusal(Nodes(nodes("s", "u")), by_topic),
              HasSubstr("--grouper by-topic keeps them apart"));
}

TEST(TopologyFileTest, OptionsHaveTheNamesOfFlags) {
  const auto file = TopologyFile::Parse(
      R"({"app":"a","threads":3,"eos":true,"version":7,"commit-interval":"5s","dry-run":false,
          "s":{"key":"json"},"nodes":{"in":{"source":"x"}}})",
      "f");
  ASSERT_TRUE(file.ok()) << file.status().message();
  RuntimeOptions options;
  ASSERT_TRUE(file->Configure(&options).ok());
  EXPECT_EQ(options.app, "a");
  EXPECT_EQ(options.threads, 3);
  EXPECT_EQ(options.guarantee, Guarantee::kExactlyOnce);
  EXPECT_EQ(options.version, 7);
  EXPECT_EQ(options.CommitInterval().count(), 5000);
  EXPECT_FALSE(options.dry_run);
  EXPECT_EQ(options.serdes.key, "json");
  EXPECT_EQ(options.serdes.value, "json");
}

TEST(TopologyFileTest, VariablesStandInStrings) {
  const auto built = [](const std::string& nodes, TopologyVariables variables) {
    const auto file = TopologyFile::Parse(Nodes(nodes), "f", std::move(variables));
    EXPECT_TRUE(file.ok()) << file.status().message();
    const auto topology = file->Build(Kafka());
    EXPECT_TRUE(topology.ok()) << topology.status().message();
    return topology->topology.Describe();
  };
  const std::string nodes = std::string(kIn) + R"(
    "f":{"from":"in","filter":".x > ${MIN} and .y == \"$${z}\" and .n < ${MAX:-9}"},
    "g":{"from":"f","filter":{"==":[{"var":"q"},"${QUOTE}"]}},
    "out":{"from":"g","sink":"${TO}"})";
  const std::string text =
      built(nodes, {.given = {{"MIN", "5"}, {"TO", "there"}, {"QUOTE", "a\"b"}}});
  EXPECT_THAT(text, HasSubstr(R"(.x > 5 and .y == "${z}" and .n < 9)"));
  EXPECT_THAT(text, HasSubstr(R"({"==":[{"var":"q"},"a\"b"]})"));
  EXPECT_THAT(text, HasSubstr("output topic:there"));

  const auto unused = TopologyFile::Parse(Nodes(nodes), "f", {.given = {{"MN", "5"}}});
  EXPECT_EQ(unused.status().code(), StatusCode::kUsage);
  EXPECT_EQ(unused.status().message(), "MN is set, and f has no ${MN}");
  EXPECT_THAT(Refusal(Nodes(nodes)), HasSubstr("f:2:31: nothing is said of ${MIN}: give it with "
                                               "--set MIN=VALUE, or in the environment"));
}

struct Refused {
  const char* nodes;
  const char* message;
};

class RefusedNodesTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedNodesTest, TellsWhereAndWhatToDo) {
  EXPECT_EQ(Refusal(Nodes(GetParam().nodes)), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedNodesTest,
    testing::Values(
        Refused{R"("in":{"sorce":"x"})",
                "f:1:17: 'sorce' is no kind of node: did you mean "
                "'source'?"},
        Refused{R"("in":{"source":"x","kye":".a"})",
                "f:1:30: node 'in' has no field 'kye': did you mean 'key'?"},
        Refused{R"("in":{"source":"x"},"in":{"source":"y"})",
                "f:1:31: 'in' stands here a second time: rename or remove one"},
        Refused{R"("in":{"source":"x"},"f":{"from":"on","filter":".a"})",
                "f:1:43: there is no node 'on': did you mean 'in'?"},
        Refused{R"("in":{"source":"x"},"f":{"filter":".a"})", "f:1:35: node 'f' lacks 'from'"},
        Refused{R"("in":{"source":"x"},"f":{"from":"in","filter":".a >"})",
                "f:1:62: the expression ends too early"},
        Refused{R"("in":{"source":"x"},"f":{"from":"in","filter":"\"\u00e4\" == .a |"})",
                "f:1:76: the expression ends too early"},
        Refused{R"("in":{"source":"x"},"f":{"from":"in","filter":{">":[{"vr":"a"},1]}})",
                "f:1:63: there is no operator \"vr\"; did you mean \"var\"?"},
        Refused{R"("in":{"source":"x"},"f":{"from":"in","filter":"1 > 0"})",
                "f:1:57: '1 > 0' is the same for every record: a field is read with a dot, as in "
                "'.amount > 100' (true and false alone are taken)"},
        Refused{R"("in":{"source":"x"},"f":{"from":"in","filter":""})",
                "f:1:57: the expression is empty: . stands for the value as it is"},
        Refused{R"("a":{"from":"b","filter":".x"},"b":{"from":"a","filter":".y"})",
                "f:1:54: 'b' comes from 'a', which comes from it again: a cycle would never end"},
        Refused{R"("in":{"source":"x"},"o":{"from":"in","sink":"x"})",
                "f:1:31: sink 'o' writes topic:x, which source 'in' reads: the stage would read "
                "what it writes"},
        Refused{R"("it's":{"source":"x"},"it's-o":{"from":"it's","sink":"x"})",
                "f:1:33: sink 'it's-o' writes topic:x, which source 'it's' reads: the stage would "
                "read what it writes"},
        Refused{R"("in":{"source":"x"},"a":{"from":"in","aggregate":{"count":true},"store":"s"},
                   "b":{"from":"in","aggregate":{"count":true},"store":"s"})",
                "f:2:72: another node, 'a', has a store that is named 's', too: give each its own"},
        Refused{R"("in":{"source":"x"},"a":{"from":"in","aggregate":{"sum":{"t":".a"},
                   "windw":"tumbling:1m"}})",
                "f:2:20: the aggregate of 'a' has no field 'windw': did you mean 'window'?"},
        Refused{R"("in":{"source":"x"},"a":{"from":"in","aggregate":{"count":true,
                   "window":"tumbling:1x"}})",
                "f:2:29: 'window': '1x' is not a duration: give it as 500ms, 10s, 5m, 2h or 7d"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","within":"1s"}})",
                "f:1:43: the join of 'j' lacks 'right'"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"on","within":"1s"}})",
                "f:1:64: there is no node 'on': did you mean 'in'?"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"in"}})",
                "f:1:43: the window is empty: give 'within', 'before' or 'after' a length"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"in","within":"1x"}})",
                "f:1:78: 'within': '1x' is not a duration: give it as 500ms, 10s, 5m, 2h or 7d"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"in","within":"1s",
                   "prior":"yes"}})",
                "f:2:28: 'prior' takes true or false"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"in","within":"1s",
                   "latest":true}})",
                "f:2:29: 'latest' needs 'prior'"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"in","after":"1s",
                   "prior":true}})",
                "f:1:77: 'after' contradicts 'prior': what is later is not joined"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"in","within":"1s",
                   "prior":true,"latest":true,"type":"outer"}})",
                "f:1:43: the latest right record is chosen for each left one: right ones are never "
                "alone"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"in","within":"1s",
                   "value":"$lift"}})",
                "f:2:29: there is no $lift; did you mean $left?"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"in","within":"1s",
                   "late":"in"}})",
                "f:2:27: 'in' is the name of something else, too: give each its own"},
        Refused{R"("in":{"source":"x"},"j":{"join":{"left":"in","right":"in","within":"1s"},
                   "from":"in"})",
                "f:2:20: node 'j' has no field 'from': it takes join, store"},
        Refused{R"("in":{"source":"x"},"o":{"from":"in","sink":"y"},"p":{"from":"o","sink":"z"})",
                "f:1:72: 'o' is a sink: nothing comes from one"},
        Refused{R"("in":{"source":"x","filter":".a"})",
                "f:1:30: node 'in' is a 'source' already: make 'filter' a node of its own, with "
                "\"from\""}));

TEST(TopologyFileTest, TextThatIsNoJsonIsToldByItsPlace) {
  EXPECT_THAT(Refusal("{\"nodes\":\n  {\"in\" {}}}"), HasSubstr("f:2:9: not JSON: "));
  EXPECT_THAT(Refusal(""), HasSubstr("f:1:1: not JSON"));
  EXPECT_EQ(Refusal("[]"), "f:1:1: takes an object with \"nodes\", and got an array");
  EXPECT_EQ(Refusal(R"({"thread":2,"nodes":{}})"),
            "f:1:2: a topology has no field 'thread': did you mean 'threads'?");
  EXPECT_EQ(Refusal(R"({"threads":0,"nodes":{"in":{"source":"x"}}})"),
            "f:1:12: --threads: 0 is not between 1 and 256");
}

TEST(TopologyFileTest, ATopicWithoutBrokersIsAMistakeOfTheCommandLine) {
  const auto file = TopologyFile::Parse(Nodes(R"("in":{"source":"topic:x"})"), "f");
  ASSERT_TRUE(file.ok());
  const auto built = file->Build(RuntimeOptions());
  EXPECT_EQ(built.status().code(), StatusCode::kUsage);
  EXPECT_EQ(built.status().message(),
            "f:1:26: x is a topic, and no brokers are known: name them with --brokers");
}

}  // namespace
}  // namespace kstream
