// Options by name: what each sets, and the words with which the rest is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "kstream/runtime.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class OptionsTest : public testing::Test {
 protected:
  void Take(std::string_view name, std::string_view value) {
    const Status status = options_.Set(name, value);
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
  }
  std::string Refusal(std::string_view name, std::string_view value) {
    const Status status = options_.Set(name, value);
    EXPECT_EQ(status.code(), StatusCode::kUsage) << name << "=" << value;
    return std::string(status.message());
  }

  RuntimeOptions options_;
};

TEST_F(OptionsTest, EachSetsItsMember) {
  Take("app", "orders");
  Take("from", "@-1h");
  Take("exit-at-end", "true");
  Take("limit", "9223372036854775807");
  Take("timeout", "10s");
  Take("partitions", "12");
  Take("s", "key=json");
  Take("s", "value=>q");
  Take("threads", "4");
  Take("guarantee", "at-least-once");
  Take("commit-interval", "200ms");
  Take("instance-id", "one");
  Take("state-dir", "/state");
  Take("store-type", "memory");
  Take("memory", "1G");
  Take("standby", "all");
  Take("grouper", "broadcast:rates");
  Take("max-idle", "0s");
  Take("max-idle", "2s");
  Take("max-skew", "1h");
  Take("max-errors", "0");
  Take("partitioner", "crc32");
  Take("create-output", "3:2");
  Take("dry-run", "true");
  EXPECT_EQ(options_.app, "orders");
  EXPECT_EQ(options_.from, "@-1h");
  EXPECT_TRUE(options_.from_given);
  EXPECT_TRUE(options_.exit_at_end);
  EXPECT_EQ(options_.limit, INT64_MAX);
  EXPECT_EQ(options_.timeout, milliseconds(10'000));
  EXPECT_EQ(options_.partitions, 12);
  EXPECT_EQ(options_.serdes.key, "json");
  EXPECT_EQ(options_.serdes.value, ">q");
  EXPECT_EQ(options_.threads, 4);
  EXPECT_EQ(options_.commit_interval, milliseconds(200));
  EXPECT_EQ(options_.instance_id, "one");
  EXPECT_EQ(options_.state_dir, "/state");
  EXPECT_EQ(options_.store_type, StoreSpec::Engine::kMemory);
  EXPECT_EQ(options_.memory, int64_t{1} << 30);
  EXPECT_EQ(options_.standby, RuntimeOptions::kAllStandbys);
  EXPECT_EQ(options_.grouper, "broadcast:rates");
  EXPECT_EQ(options_.max_idle, milliseconds(2000));
  EXPECT_EQ(options_.max_skew, milliseconds(3'600'000));
  EXPECT_EQ(options_.max_errors, 0);
  EXPECT_EQ(options_.partitioner, "crc32");
  EXPECT_EQ(options_.create_output, std::pair(3, 2));
  EXPECT_TRUE(options_.dry_run);
}

TEST_F(OptionsTest, EverySpellingOfAFlagIsKnown) {
  Take("b", "a:1");
  EXPECT_EQ(options_.home.brokers, "a:1");
  Take("bootstrap-server", "b:1");
  EXPECT_EQ(options_.home.brokers, "b:1");
  Take("j", "2");
  EXPECT_EQ(options_.threads, 2);
}

TEST_F(OptionsTest, TheCommitIntervalFollowsTheGuaranteeUnlessItIsGiven) {
  EXPECT_EQ(options_.CommitInterval(), milliseconds(1000));
  Take("eos", "true");
  EXPECT_EQ(options_.guarantee, Guarantee::kExactlyOnce);
  EXPECT_EQ(options_.CommitInterval(), milliseconds(200));
  Take("commit-interval", "3s");
  EXPECT_EQ(options_.CommitInterval(), milliseconds(3000));
  Take("guarantee", "at-least-once");
  EXPECT_EQ(options_.guarantee, Guarantee::kAtLeastOnce);
  Take("guarantee", "exactly-once");
  EXPECT_EQ(ToString(options_.guarantee), "exactly-once");
}

TEST_F(OptionsTest, TheStateDirectoryFollowsTheEnvironmentUnlessItIsGiven) {
  const auto set = [](const char* name, const char* value) {
    return value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  };
  const auto found = [&](const char* xdg, const char* home) {
    set("XDG_STATE_HOME", xdg);
    set("HOME", home);
    const Result<std::string> directory = options_.StateDir();
    return directory.ok() ? *directory : std::string(directory.status().message());
  };
  EXPECT_EQ(found("/xdg", "/h"), "/xdg/kstream");
  EXPECT_EQ(found(nullptr, "/h"), "/h/.local/state/kstream");
  EXPECT_EQ(found("", "/h"), "/h/.local/state/kstream");
  EXPECT_EQ(found("not/absolute", "/h"), "/h/.local/state/kstream");
  EXPECT_THAT(found(nullptr, nullptr), testing::HasSubstr("--state-dir"));
  EXPECT_EQ(options_.StateDir().status().code(), StatusCode::kUsage);
  Take("state-dir", "here");
  EXPECT_EQ(found("/xdg", "/h"), "here");
}

TEST_F(OptionsTest, PropertiesGoToTheirSideAndTheLaterWins) {
  Take("brokers", "a:1,b:1");
  Take("X", "fetch.min.bytes=1");
  Take("X", "in.fetch.min.bytes=2");
  Take("X", "out.acks=1");
  Take("X", "client.id=me");
  EXPECT_EQ(options_.home.brokers, "a:1,b:1");
  EXPECT_THAT(options_.home.consumer,
              ElementsAre(Pair("client.id", "me"), Pair("fetch.min.bytes", "2")));
  EXPECT_THAT(options_.home.producer, ElementsAre(Pair("acks", "1"), Pair("client.id", "me"),
                                                  Pair("fetch.min.bytes", "1")));
  Take("X", "metadata.broker.list=c:1");
  EXPECT_EQ(options_.home.brokers, "c:1");
  EXPECT_THAT(options_.home.consumer, testing::SizeIs(2));
}

TEST_F(OptionsTest, AFileOfPropertiesIsRead) {
  const std::string path = testing::TempDir() + "options_test.conf";
  std::ofstream(path) << "bootstrap.servers=a:1\nin.client.id=reader\n";
  Take("config", path);
  EXPECT_EQ(options_.home.brokers, "a:1");
  EXPECT_THAT(options_.home.consumer, ElementsAre(Pair("client.id", "reader")));
  EXPECT_THAT(options_.home.producer, IsEmpty());
  Take("cluster", "eu=" + path);
  EXPECT_EQ(options_.clusters.at("eu").brokers, "a:1");
  EXPECT_EQ(Refusal("F", "/nowhere/at/all"),
            "--config: /nowhere/at/all: No such file or directory");
}

TEST_F(OptionsTest, AClusterIsNamedOnce) {
  Take("cluster", "eu=k:1");
  EXPECT_EQ(options_.clusters.at("eu").brokers, "k:1");
  EXPECT_EQ(Refusal("cluster", "eu=k:2"), "--cluster: eu is given twice");
  EXPECT_EQ(options_.clusters.at("eu").brokers, "k:1");
}

TEST_F(OptionsTest, ADeadLetterIsATopicWhereBrokersAreKnownAndMakesThePolicy) {
  Take("dead-letter", "bad");
  EXPECT_EQ(options_.dead_letter, (Location{Location::Kind::kFile, "", "bad"}));
  EXPECT_EQ(options_.on_error, OnError::kDeadLetter);
  Take("on-error", "skip");
  EXPECT_EQ(options_.on_error, OnError::kSkip);
  Take("brokers", "a:1");
  Take("cluster", "eu=k:1");
  Take("dead-letter", "eu:bad");
  EXPECT_EQ(options_.dead_letter, Location::Topic("bad", "eu"));
}

TEST_F(OptionsTest, MistakesNameTheFlag) {
  EXPECT_EQ(Refusal("limit", "1e3"), "--limit: '1e3' is not a whole number");
  EXPECT_EQ(Refusal("c", "-1"), "--limit: -1 is not a number of at least 0");
  EXPECT_EQ(Refusal("threads", "257"), "--threads: 257 is not between 1 and 256");
  EXPECT_EQ(Refusal("threads", "99999999999999999999"),
            "--threads: 99999999999999999999 is not between 1 and 256");
  EXPECT_EQ(Refusal("timeout", "0s"), "--timeout: 0s is not longer than 0");
  EXPECT_EQ(Refusal("max-skew", "soon"),
            "--max-skew: 'soon' is not a duration: give it as 500ms, 10s, 5m, 2h or 7d");
  EXPECT_EQ(Refusal("max-idle", "-1s"),
            "--max-idle: '-1s' is not a duration: give it as 500ms, 10s, 5m, 2h or 7d");
  EXPECT_EQ(Refusal("grouper", "sticky"),
            "--grouper: 'sticky' is none of default, single, by-topic, broadcast:TOPIC");
  EXPECT_EQ(Refusal("from", "start"),
            "--from: 'start' is none of beginning, end, N, -N, @TIME, @T1:T2");
  EXPECT_EQ(Refusal("on-error", "ignore"),
            "--on-error: 'ignore' is none of fail, skip, dead-letter");
  EXPECT_EQ(Refusal("store-type", "sqlite"), "--store-type: 'sqlite' is none of rocksdb, memory");
  EXPECT_EQ(Refusal("memory", "7M"),
            "--memory: 7340032 bytes are less than stores need: at least 8M");
  EXPECT_THAT(Refusal("memory", "lots"), testing::StartsWith("--memory: 'lots'"));
  EXPECT_EQ(Refusal("guarantee", "exactly"),
            "--guarantee: 'exactly' is none of at-least-once, exactly-once");
  EXPECT_EQ(Refusal("eos", "false"), "--eos: takes no value");
  EXPECT_EQ(Refusal("dry-run", "yes"), "--dry-run: takes no value");
  EXPECT_EQ(Refusal("app", ""), "--app: empty value");
  EXPECT_EQ(Refusal("s", "json"), "-s: 'json' is neither key=SERDE nor value=SERDE");
  EXPECT_EQ(Refusal("X", "acks"), "-X: 'acks' is not PROPERTY=VALUE");
  EXPECT_EQ(Refusal("create-output", "3:"), "--create-output: '' is not a whole number");
  for (const char* value : {"-1", "1001", "some", "1.5"}) {
    EXPECT_EQ(Refusal("standby", value),
              "--standby: '" + std::string(value) +
                  "' is neither all nor a number of instances, 0 to 1000");
  }
  EXPECT_EQ(Refusal("create-output", "0"), "--create-output: 0 is not between 1 and 100000");
}

TEST_F(OptionsTest, NothingIsSetByAMistake) {
  for (const auto& [name, value] : {std::pair("limit", "x"),
                                    {"from", "x"},
                                    {"grouper", "x"},
                                    {"partitioner", "x"},
                                    {"timeout", "x"},
                                    {"threads", "0"}}) {
    Refusal(name, value);
  }
  EXPECT_EQ(options_.limit, std::nullopt);
  EXPECT_FALSE(options_.from_given);
  EXPECT_EQ(options_.grouper, "default");
  EXPECT_EQ(options_.partitioner, "murmur2");
  EXPECT_EQ(options_.timeout, std::nullopt);
  EXPECT_EQ(options_.threads, 1);
}

TEST_F(OptionsTest, AnUnknownNameIsToldWithTheNearest) {
  EXPECT_EQ(Refusal("comit-interval", "1s"),
            "unknown flag --comit-interval: did you mean --commit-interval?");
  EXPECT_EQ(Refusal("input", "x"), "unknown flag --input");
  EXPECT_EQ(Refusal("z", "x"), "unknown flag -z");
}

}  // namespace
}  // namespace kstream
