// Every operator of streams, in both of its forms, inside the real task.
#include "kstream/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kstream/serdes.h"
#include "kstream/store.h"
#include "unit/dsl/task_run.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Form = std::function<Stream(const Stream& in)>;

Location File(std::string name) { return {Location::Kind::kFile, "", std::move(name)}; }

// The operators of `form` between a source and the sink "out".
class FormRun : public TaskRun {
 public:
  explicit FormRun(const Form& form, SerdeNames serdes = {}) : TaskRun(Build(form, serdes)) {}

 private:
  static Result<Topology> Build(const Form& form, SerdeNames serdes) {
    StreamBuilder builder(std::move(serdes));
    form(builder.Source(File("in"), "in")).To(File("out"), "out");
    return builder.Build();
  }
};

bool IsLarge(const Record& record) { return record.value && record.value->size() > 3; }

TEST(StreamFilter, KeepsRecordsUntouched) {
  const Form forms[] = {
      [](const Stream& in) { return in.Filter(". > 999"); },
      [](const Stream& in) { return in.Filter(*Expression::Compile(". > 999")); },
      [](const Stream& in) { return in.Filter(IsLarge); },
  };
  for (const Form& form : forms) {
    FormRun run(form);
    EXPECT_TRUE(run.Process("1.0", "a").ok());
    EXPECT_TRUE(run.Process("1000.0", "b").ok());
    EXPECT_THAT(run.out().Values(), ElementsAre("1000.0"));
    EXPECT_THAT(run.out().Keys(), ElementsAre("b"));
    EXPECT_EQ(run.out().records[0].timestamp, 1000);
  }
}

TEST(StreamFilter, NotDropsThem) {
  const Form forms[] = {
      [](const Stream& in) { return in.FilterNot(". > 999"); },
      [](const Stream& in) { return in.FilterNot(IsLarge); },
  };
  for (const Form& form : forms) {
    FormRun run(form);
    EXPECT_TRUE(run.Process("1.0").ok());
    EXPECT_TRUE(run.Process("1000.0").ok());
    EXPECT_THAT(run.out().Values(), ElementsAre("1.0"));
  }
}

TEST(StreamMap, ChangesKeyValueHeadersAndPlaceByExpressions) {
  FormRun run([](const Stream& in) {
    return in.Map({.value = ".v",
                   .tombstone = "$out == 0",
                   .key = ".user",
                   .headers = {{"v", "$out"}},
                   .to = "\"t-\\($out)\"",
                   .partition = "$out // 0"});
  });
  EXPECT_TRUE(run.Process(R"({"user":"u1","v":7})", "k").ok());
  EXPECT_TRUE(run.Process(R"({"user":null,"v":0})", "k").ok());
  EXPECT_TRUE(run.Process(std::nullopt, "k").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("7", "(null)", "(null)"));
  EXPECT_THAT(run.out().Keys(), ElementsAre("u1", "(null)", "k"));
  const Kept& made = run.out().records[0];
  EXPECT_EQ(made.topic, "t-7");
  EXPECT_EQ(made.partition, 7);
  using H = std::pair<std::string, std::optional<std::string>>;
  EXPECT_THAT(made.headers, ElementsAre(H{"v", "7"}));
}

TEST(StreamMap, ByAFunctionMayChangeAllOfARecord) {
  FormRun run([](const Stream& in) {
    return in.Map([](const Record& record, const Emit& emit) {
      std::string key = "k", value = "[" + std::string(*record.value) + "]", header = "h";
      const Header headers[] = {{header, value}, {header, std::nullopt}};
      Record made = record;
      made.key = key;
      made.value = value;
      made.topic = header;
      made.headers = headers;
      made.timestamp = 5;
      Status status = emit(made);
      for (std::string* used : {&key, &value, &header}) used->assign(used->size(), 'X');
      return status;
    });
  });
  EXPECT_TRUE(run.Process("1").ok());
  EXPECT_TRUE(run.Process("2").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("[1]", "[2]"));
  EXPECT_THAT(run.out().Keys(), ElementsAre("k", "k"));
  const Kept& made = run.out().records[1];
  EXPECT_EQ(made.topic, "h");
  EXPECT_EQ(made.timestamp, 5);
  using H = std::pair<std::string, std::optional<std::string>>;
  EXPECT_THAT(made.headers, ElementsAre(H{"h", "[2]"}, H{"h", std::nullopt}));
}

// Emits the record as often as its value says, and leaves the answers of `emit` alone.
Status Repeat(const Record& record, const Emit& emit) {
  for (int n = std::stoi(std::string(*record.value)); n > 0; n--) (void)emit(record);
  return Status::Ok();
}

TEST(StreamMap, MakesExactlyOneRecord) {
  const Form forms[] = {
      [](const Stream& in) { return in.Map({.value = "range(.)"}); },
      [](const Stream& in) { return in.MapValues("range(.)"); },
      [](const Stream& in) { return in.Map(Repeat); },
  };
  for (const Form& form : forms) {
    FormRun run(form);
    EXPECT_EQ(run.Process("0").code(), StatusCode::kData);
    EXPECT_EQ(run.Process("2").code(), StatusCode::kData);
    EXPECT_EQ(run.out().records.size(), 0u);
    EXPECT_TRUE(run.Process("1").ok());
    EXPECT_EQ(run.out().records.size(), 1u);
  }
}

TEST(StreamFlatMap, MakesAnyNumber) {
  const Form forms[] = {
      [](const Stream& in) { return in.FlatMap({.value = "range(.) | 2"}); },
      [](const Stream& in) { return in.FlatMapValues("range(.) | 2"); },
      [](const Stream& in) { return in.FlatMap(Repeat); },
      [](const Stream& in) { return in.FlatMapValues(Repeat); },
  };
  for (const Form& form : forms) {
    FormRun run(form);
    EXPECT_TRUE(run.Process("2", "a").ok());
    EXPECT_TRUE(run.Process("0", "b").ok());
    EXPECT_THAT(run.out().Values(), ElementsAre("2", "2"));
    EXPECT_THAT(run.out().Keys(), ElementsAre("a", "a"));
  }
}

TEST(StreamFlatMap, ForwardsNothingOfARecordThatFailsHalfway) {
  const auto half = [](const Record& record, const Emit& emit) -> Status {
    KSTREAM_RETURN_IF_ERROR(emit(record));
    if (*record.value == "[1,0]") return Status::Data("no inverse");
    if (*record.value == "[2,0]") throw std::runtime_error("nor here");
    return Status::Ok();
  };
  const Form forms[] = {
      [](const Stream& in) { return in.FlatMap({.value = ".[] | 1 / ."}); },
      [](const Stream& in) { return in.FlatMapValues(".[] | 1 / ."); },
      [&](const Stream& in) { return in.FlatMap(half); },
      [&](const Stream& in) { return in.FlatMapValues(half); },
  };
  for (const Form& form : forms) {
    FormRun run(form);
    EXPECT_EQ(run.Process("[1,0]").code(), StatusCode::kData);
    EXPECT_EQ(run.Process("[2,0]").code(), StatusCode::kData);
    EXPECT_EQ(run.out().records.size(), 0u);
    EXPECT_TRUE(run.Process("[1]").ok());
    EXPECT_EQ(run.out().records.size(), 1u);
  }
}

TEST(StreamFlatMap, RefusesARecordThatBecomesTooMuch) {
  // Its answers ignored, emit must still not take all of the memory.
  FormRun run([](const Stream& in) {
    return in.FlatMap([](const Record& record, const Emit& emit) {
      const std::string megabyte(1 << 20, 'x');
      Record made = record;
      made.value = megabyte;
      for (int i = 0; i < 300; i++) (void)emit(made);
      return Status::Ok();
    });
  });
  EXPECT_THAT(std::string(run.Process("1").message()), HasSubstr("more than 256 MB"));
  EXPECT_THAT(run.out().records, IsEmpty());
}

TEST(StreamFlatMapValues, KeepsTheKeyWhateverTheFunctionSays) {
  FormRun run([](const Stream& in) {
    return in.FlatMapValues([](const Record& record, const Emit& emit) {
      Record made = record;
      made.key = "other";
      KSTREAM_RETURN_IF_ERROR(emit(made));
      made.key = std::nullopt;
      return emit(made);
    });
  });
  EXPECT_TRUE(run.Process("1", "mine").ok());
  EXPECT_THAT(run.out().Keys(), ElementsAre("mine", "mine"));
}

TEST(StreamMapValues, ReplacesTheValueAlone) {
  const Form forms[] = {
      [](const Stream& in) { return in.MapValues("[.]"); },
      [](const Stream& in) {
        return in.MapValues([](const Record& record) -> MadeBytes {
          if (!record.value) return std::nullopt;
          return "[" + std::string(*record.value) + "]";
        });
      },
  };
  const Header headers[] = {{"h", "1"}};
  for (const Form& form : forms) {
    FormRun run(form);
    EXPECT_TRUE(run.Process("1.0", "a", headers).ok());
    EXPECT_TRUE(run.Process(std::nullopt, "b").ok());
    EXPECT_THAT(run.out().Values(), ElementsAre("[1.0]", "(null)"));
    EXPECT_THAT(run.out().Keys(), ElementsAre("a", "b"));
    EXPECT_EQ(run.out().records[0].headers.size(), 1u);
  }
}

TEST(StreamSelectKey, ReplacesTheKeyAloneOfNullPayloadsToo) {
  const Form forms[] = {
      [](const Stream& in) { return in.SelectKey("if . == null then $key else .u end"); },
      [](const Stream& in) {
        return in.SelectKey([](const Record& record) -> MadeBytes {
          if (!record.value) return std::string(*record.key);
          if (record.value->find("null") != std::string_view::npos) return std::nullopt;
          return "u1";
        });
      },
  };
  for (const Form& form : forms) {
    FormRun run(form);
    EXPECT_TRUE(run.Process(R"({ "u" : "u1", "n":1.0})", "a").ok());
    EXPECT_TRUE(run.Process(R"({"u":null})", "b").ok());
    EXPECT_TRUE(run.Process(std::nullopt, "c").ok());
    EXPECT_THAT(run.out().Keys(), ElementsAre("u1", "(null)", "c"));
    EXPECT_THAT(run.out().Values(),
                ElementsAre(R"({ "u" : "u1", "n":1.0})", R"({"u":null})", "(null)"));
  }
}

TEST(StreamSelectKey, WritesTheKeyByItsSerde) {
  const Form form = [](const Stream& in) { return in.SelectKey(".u"); };
  FormRun text(form), json(form, {.key = "json"});
  for (const char* value : {R"({"u":"x"})", R"({"u":{"a":[1,2.0]}})"}) {
    EXPECT_TRUE(text.Process(value).ok());
    EXPECT_TRUE(json.Process(value).ok());
  }
  EXPECT_THAT(text.out().Keys(), ElementsAre("x", R"({"a":[1,2.0]})"));
  EXPECT_THAT(json.out().Keys(), ElementsAre("\"x\"", R"({"a":[1,2.0]})"));
}

TEST(StreamSelectKey, ThatFailsMakesTheRecordBad) {
  const Form forms[] = {
      [](const Stream& in) { return in.SelectKey(".[]"); },
      [](const Stream& in) {
        return in.SelectKey([](const Record&) { return Status::Data("no key"); });
      },
  };
  for (const Form& form : forms) {
    FormRun run(form);
    EXPECT_EQ(run.Process("[1,2]").code(), StatusCode::kData);
    EXPECT_THAT(run.out().records, IsEmpty());
  }
}

// Branches to the sinks "small", "even" and, if asked for, "rest".
Result<Topology> Branched(BranchSpec even, bool rest) {
  StreamBuilder builder;
  const std::vector<Stream> branches =
      builder.Source(File("in"))
          .Branch({{"small", ". < 10"}, std::move(even)}, rest ? "others" : "");
  const std::vector<std::string> sinks = {"small-out", "even-out", "rest-out"};
  for (size_t i = 0; i < branches.size(); i++) branches[i].To(File(sinks[i]), sinks[i]);
  return builder.Build();
}

TEST(StreamBranch, SendsEachRecordToTheFirstThatHolds) {
  const auto is_even = [](const Record& record) { return (record.value->back() - '0') % 2 == 0; };
  for (const BranchSpec& even : {BranchSpec{"even", ". % 2 == 0"}, BranchSpec{"even", is_even}}) {
    for (const bool rest : {false, true}) {
      TaskRun run(Branched(even, rest));
      for (const char* value : {"1", "2", "11", "12"}) EXPECT_TRUE(run.Process(value).ok());
      EXPECT_THAT(run.out("small-out").Values(), ElementsAre("1", "2"));
      EXPECT_THAT(run.out("even-out").Values(), ElementsAre("12"));
      EXPECT_EQ(run.out("rest-out").Values(),
                rest ? std::vector<std::string>{"11"} : std::vector<std::string>{});
    }
  }
}

TEST(StreamBranch, AConditionThatFailsMakesTheRecordBad) {
  const auto fails = [](const Record&) { return Status::Data("no number"); };
  for (const BranchSpec& even : {BranchSpec{"even", ". / 0"}, BranchSpec{"even", fails}}) {
    TaskRun run(Branched(even, true));
    EXPECT_EQ(run.Process("11").code(), StatusCode::kData);
    EXPECT_THAT(run.out("rest-out").records, IsEmpty());
    EXPECT_TRUE(run.Process("1").ok());  // the first holds, so the second is not asked
  }
}

TEST(StreamMerge, TakesTheRecordsOfBoth) {
  FormRun run([](const Stream& in) {
    return in.Filter(". > 5").MapValues("\"big\"").Merge(in.Filter(". < 3"));
  });
  for (const char* value : {"1", "4", "6"}) EXPECT_TRUE(run.Process(value).ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("1", "\"big\""));
}

TEST(StreamPeek, SeesEachRecordAndPassesItOn) {
  std::vector<std::string> seen;
  FormRun run([&](const Stream& in) {
    return in.Peek([&](const Record& record) {
      if (*record.value == "3") return Status::Data("I do not like it");
      seen.emplace_back(*record.value);
      return Status::Ok();
    });
  });
  EXPECT_TRUE(run.Process("1").ok());
  EXPECT_TRUE(run.Process("2").ok());
  EXPECT_EQ(run.Process("3").code(), StatusCode::kData);
  EXPECT_THAT(seen, ElementsAre("1", "2"));
  EXPECT_THAT(run.out().Values(), ElementsAre("1", "2"));
}

// Forwards a value when it comes for the first time.
class Distinct : public Processor {
 public:
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    KSTREAM_ASSIGN_OR_RETURN(StateStore* const store, context.Store("seen"));
    seen_ = dynamic_cast<KeyValueStore*>(store);
    return seen_ ? Status::Ok() : Status::Usage("not a key-value store");
  }
  Status Process(const Record& record) override {
    KSTREAM_ASSIGN_OR_RETURN(const std::optional<std::string> before, seen_->Get(*record.value));
    if (before) return Status::Ok();
    KSTREAM_RETURN_IF_ERROR(seen_->Put(*record.value, ""));
    return context_->Forward(record);
  }

 private:
  ProcessorContext* context_ = nullptr;
  KeyValueStore* seen_ = nullptr;
};

TEST(StreamProcess, RunsAProcessorWithItsStores) {
  StreamBuilder builder;
  builder.AddStore("seen", InMemoryKeyValueStore());
  builder.Source(File("in"))
      .Process([] { return std::make_unique<Distinct>(); }, "distinct", {"seen"})
      .To(File("out"), "out");
  TaskRun run(builder.Build());
  for (const char* value : {"1", "2", "1"}) EXPECT_TRUE(run.Process(value).ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("1", "2"));
}

TEST(Streams, ExpressionsBelowAFunctionSeeWhatItMade) {
  // What stands above has parsed the value, so a stale cache would show; and the last expression
  // reads a value that a function passed on.
  const auto twice = [](const Record& record) { return "1" + std::string(*record.value); };
  const Form forms[] = {
      [&](const Stream& in) { return in.MapValues(twice); },
      [&](const Stream& in) {
        return in.FlatMap([&](const Record& record, const Emit& emit) {
          const std::string value = twice(record);
          Record made = record;
          made.value = value;
          return emit(made);
        });
      },
  };
  for (const Form& form : forms) {
    FormRun run([&](const Stream& in) {
      return form(in.Filter(". < 10"))
          .Filter(". > 10")
          .FlatMap([](const Record& record, const Emit& emit) { return emit(record); })
          .MapValues(". + 100")
          .Filter(". > 100");
    });
    for (const char* value : {"2", "3"}) EXPECT_TRUE(run.Process(value).ok());
    EXPECT_THAT(run.out().Values(), ElementsAre("112", "113"));
  }
}

TEST(Streams, AFunctionThatGivesNothingAtAllLosesNoRecordInSilence) {
  const auto nothing = [](const Record&) { return Status::Ok(); };
  const Form forms[] = {
      [&](const Stream& in) { return in.Filter(nothing); },
      [&](const Stream& in) { return in.MapValues(nothing); },
      [&](const Stream& in) { return in.SelectKey(nothing); },
      [&](const Stream& in) {
        return in.Branch({{"b", nothing}})[0];
      },
  };
  for (const Form& form : forms) {
    FormRun run(form);
    EXPECT_EQ(run.Process("1").code(), StatusCode::kData);
  }
}

TEST(Streams, EveryTaskHasFunctionsOfItsOwn) {
  StreamBuilder builder;
  builder.Source(File("in"))
      .Filter([n = 0](const Record&) mutable { return ++n > 1; })
      .To(File("out"), "out");
  const Result<Topology> topology = builder.Build();
  TaskRun first(topology), second(topology);
  for (TaskRun* run : {&first, &second}) {
    EXPECT_TRUE(run->Process("1").ok());
    EXPECT_TRUE(run->Process("2").ok());
    EXPECT_THAT(run->out().Values(), ElementsAre("2"));
  }
}

// Length-prefixed by one byte, in which a text stands.
class PrefixedText : public CustomSerde {
 public:
  Status ToJson(std::string_view bytes, std::string* json) const override {
    if (bytes.empty() || bytes.size() != bytes[0] + 1u) return Status::Data("a wrong length");
    json->append("\"").append(bytes.substr(1)).append("\"");
    return Status::Ok();
  }
  Status FromJson(std::string_view json, std::string* bytes) const override {
    const std::string_view text = json.substr(1, json.size() - 2);
    bytes->append(1, static_cast<char>(text.size())).append(text);
    return Status::Ok();
  }
};

TEST(Streams, ExpressionsSeeThroughASerdeOfOnesOwn) {
  ASSERT_TRUE(RegisterSerde("prefixed", std::make_shared<PrefixedText>()).ok());
  FormRun run(
      [](const Stream& in) {
        return in.Filter("$key != \"b\"").MapValues("ascii_upcase").SelectKey("$key + \"!\"");
      },
      {.key = "prefixed", .value = "prefixed"});
  EXPECT_TRUE(run.Process("\3abc", "\1a").ok());
  EXPECT_TRUE(run.Process("\3abc", "\1b").ok());
  EXPECT_EQ(run.Process("\3ab", "\1a").code(), StatusCode::kData);
  EXPECT_EQ(run.Process("\1\"", "\1a").code(), StatusCode::kData);  // becomes """, which is no JSON
  EXPECT_THAT(run.out().Values(), ElementsAre("\3ABC"));
  EXPECT_THAT(run.out().Keys(), ElementsAre("\2a!"));
}

}  // namespace
}  // namespace kstream
