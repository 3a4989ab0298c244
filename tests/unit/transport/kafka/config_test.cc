#include "transport/kafka/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kstream::transport::kafka {
namespace {

using ::testing::HasSubstr;

Options With(Properties consumer, Properties producer = {}) {
  Options options;
  options.bootstrap = "localhost:9092";
  options.consumer = std::move(consumer);
  options.producer = std::move(producer);
  return options;
}

std::string ConsumerValue(const Properties& properties, const char* name) {
  auto conf = ConsumerConf(With(properties), {});
  return conf.ok() ? Get(conf->get(), name) : std::string(conf.status().message());
}

std::string ProducerValue(const Options& options, const char* name, int64_t batch = kBatchBytes) {
  auto conf = ProducerConf(options, {}, batch);
  return conf.ok() ? Get(conf->get(), name) : std::string(conf.status().message());
}

TEST(Config, AnUnknownPropertyIsNamed) {
  auto conf = ConsumerConf(With({{"fetch.min.bites", "1"}}), {});
  EXPECT_EQ(conf.status().code(), StatusCode::kUsage);
  EXPECT_THAT(conf.status().message(), HasSubstr("fetch.min.bites"));
  EXPECT_EQ(NewCluster(With({}, {{"linger.mss", "1"}})).status().code(), StatusCode::kUsage);
}

TEST(Config, AValueThatIsNotTakenIsNamed) {
  auto conf = ConsumerConf(With({{"fetch.wait.max.ms", "soon"}}), {});
  EXPECT_EQ(conf.status().code(), StatusCode::kUsage);
  EXPECT_THAT(conf.status().message(), HasSubstr("fetch.wait.max.ms=soon"));
}

TEST(Config, NoBrokersIsAUsageError) {
  auto cluster = NewCluster({});
  EXPECT_EQ(cluster.status().code(), StatusCode::kUsage);
  EXPECT_THAT(cluster.status().message(), HasSubstr("-b"));
}

TEST(Config, BrokersMayComeFromTheProperties) {
  Options options = With({{"bootstrap.servers", "a:1"}}, {{"bootstrap.servers", "a:1"}});
  options.bootstrap.clear();
  EXPECT_TRUE(NewCluster(options).ok());
}

TEST(Config, APropertyOfTheOtherSideIsNoError) {
  const Options options = With({{"linger.ms", "7"}}, {{"fetch.min.bytes", "7"}});
  EXPECT_TRUE(NewCluster(options).ok());
}

TEST(Config, TheUserOverridesDefaultsButNotWhatTheEngineDecides) {
  EXPECT_EQ(ConsumerValue({}, "isolation.level"), "read_committed");
  EXPECT_EQ(ConsumerValue({{"isolation.level", "read_uncommitted"}}, "isolation.level"),
            "read_uncommitted");
  EXPECT_EQ(ConsumerValue({{"auto.offset.reset", "latest"}}, "auto.offset.reset"), "error");
  EXPECT_EQ(ConsumerValue({{"enable.auto.commit", "true"}}, "enable.auto.commit"), "false");
}

TEST(Config, AConsumerWithoutAGroupSharesItsNameWithNobody) {
  EXPECT_NE(ConsumerValue({}, "group.id"), ConsumerValue({}, "group.id"));
}

TEST(Config, ThreadsShareTheFetchQueue) {
  ConsumerOptions four;
  four.threads = 4;
  auto conf = ConsumerConf(With({}), four);
  ASSERT_TRUE(conf.ok());
  EXPECT_EQ(Get(conf->get(), "queued.max.messages.kbytes"), "16384");
}

TEST(Config, RecordsTimeOutBeforeTheSession) {
  EXPECT_EQ(ProducerValue(With({}), "message.timeout.ms"), "30000");
  EXPECT_EQ(ProducerValue(With({{"session.timeout.ms", "9000"}}), "message.timeout.ms"), "6000");
  EXPECT_EQ(ProducerValue(With({}, {{"message.timeout.ms", "1234"}}), "message.timeout.ms"),
            "1234");
}

TEST(Config, BatchesFitTheTopicWhateverTheUserSays) {
  EXPECT_EQ(ProducerValue(With({}), "batch.size"), "1000000");
  EXPECT_EQ(ProducerValue(With({}, {{"batch.size", "50000"}}), "batch.size"), "50000");
  EXPECT_EQ(ProducerValue(With({}, {{"batch.size", "50000"}}), "batch.size", 1000), "1000");
}

TEST(Config, ProducersAreIdempotentAndPlaceKeysAsJavaDoes) {
  EXPECT_EQ(ProducerValue(With({}), "enable.idempotence"), "true");
  EXPECT_EQ(ProducerValue(With({}, {{"enable.idempotence", "false"}}), "enable.gapless.guarantee"),
            "false");
  EXPECT_EQ(ProducerValue(With({}), "partitioner"), "murmur2_random");
}

TEST(Config, ContradictionsAreUsageErrorsWhenAClientIsMade) {
  auto cluster = NewCluster(With({}, {{"acks", "1"}}));
  ASSERT_TRUE(cluster.ok());
  auto producer = (*cluster)->NewProducer();
  EXPECT_EQ(producer.status().code(), StatusCode::kUsage);
  EXPECT_THAT(producer.status().message(), HasSubstr("acks"));
}

}  // namespace
}  // namespace kstream::transport::kafka
