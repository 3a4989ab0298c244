#include "kstream/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using Side = Property::Side;

// The name is the test's own: tests run at the same time.
std::string WriteFile(const std::string& text) {
  std::string path = testing::TempDir() +
                     testing::UnitTest::GetInstance()->current_test_info()->name() +
                     "properties_test.conf";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(PropertiesTest, ReadsSideNameAndValue) {
  auto property = ParseProperty("in. fetch.min.bytes = 1=2 ", "here");
  ASSERT_TRUE(property.ok());
  EXPECT_EQ(property->side, Side::kIn);
  EXPECT_EQ(property->value, "1=2");
  EXPECT_EQ(property->origin, "here");
  EXPECT_EQ(ParseProperty("out.acks=1", "")->side, Side::kOut);
  EXPECT_EQ(ParseProperty("x=", "")->value, "");
}

TEST(PropertiesTest, RefusesWhatIsNoProperty) {
  for (const char* text : {"", "name", "=value", " = ", "in.=x", "out. = x"}) {
    EXPECT_EQ(ParseProperty(text, "").status().code(), StatusCode::kUsage) << text;
  }
}

TEST(PropertiesTest, ReadsFilesOfEitherSystem) {
  auto properties = ReadProperties(
      WriteFile("\xEF\xBB\xBF# comment\r\n\r\n! comment\r\nmetadata.broker.list=a:1\r\n  "
                "sasl.password =x = y\r\nlast=1"));
  ASSERT_TRUE(properties.ok());
  ASSERT_EQ(properties->size(), 3u);
  EXPECT_EQ((*properties)[0].name, "bootstrap.servers");
  EXPECT_EQ((*properties)[1].value, "x = y");
  EXPECT_THAT((*properties)[2].origin, HasSubstr("properties_test.conf:6"));
}

TEST(PropertiesTest, NamesTheLineThatIsWrongButNotWhatMayBeASecret) {
  auto properties = ReadProperties(WriteFile("a=b\n=hunter2\n"));
  EXPECT_THAT(std::string(properties.status().message()), HasSubstr("properties_test.conf:2: "));
  EXPECT_THAT(std::string(properties.status().message()), Not(HasSubstr("hunter2")));
  EXPECT_EQ(ReadProperties("/nowhere/at/all").status().code(), StatusCode::kUsage);
}

TEST(PropertiesTest, TheLaterLayerWinsForEachSideApart) {
  ClusterOptions cluster = ToCluster({{Side::kBoth, "bootstrap.servers", "file:1", ""},
                                      {Side::kIn, "x", "1", ""},
                                      {Side::kBoth, "bootstrap.servers", "flag:1", ""},
                                      {Side::kBoth, "x", "2", ""},
                                      {Side::kOut, "x", "3", ""}});
  EXPECT_EQ(cluster.brokers, "flag:1");
  EXPECT_THAT(cluster.consumer, ElementsAre(Pair("x", "2")));
  EXPECT_THAT(cluster.producer, ElementsAre(Pair("x", "3")));
  EXPECT_THAT(ToCluster({}).brokers, IsEmpty());
}

TEST(PropertiesTest, ReadingAndWritingMayUseDifferentBrokers) {
  ClusterOptions cluster = ToCluster(
      {{Side::kIn, "bootstrap.servers", "a:1", ""}, {Side::kOut, "bootstrap.servers", "b:1", ""}});
  EXPECT_EQ(cluster.brokers, "a:1");
  EXPECT_THAT(cluster.consumer, IsEmpty());
  EXPECT_THAT(cluster.producer, ElementsAre(Pair("bootstrap.servers", "b:1")));
}

TEST(PropertiesTest, AClusterIsAListOrAFile) {
  auto list = ParseCluster("eu=a:1,b:2");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->first, "eu");
  EXPECT_EQ(ToCluster(list->second).brokers, "a:1,b:2");
  auto file = ParseCluster("eu=" + WriteFile("bootstrap.servers=c:3\nacks=1\n"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(ToCluster(file->second).brokers, "c:3");
  EXPECT_FALSE(ParseCluster("eu=" + WriteFile("acks=1\n")).ok());
  for (const char* text :
       {"eu", "=a:1", "eu=", "e u=a:1", "file=a:1", "topic=a:1", "eu=/nowhere"}) {
    EXPECT_EQ(ParseCluster(text).status().code(), StatusCode::kUsage) << text;
  }
}

TEST(PropertiesTest, DumpMasksSecretsAndTellsOrigins) {
  std::string text = DumpProperties(
      "home", {{Side::kBoth, "sasl.password", "hunter2", "f:1"},
               {Side::kBoth, "SSL.Keystore.Password", "hunter2", "f:2"},
               {Side::kBoth, "sasl.oauthbearer.client.secret", "hunter2", "f:3"},
               {Side::kBoth, "sasl.jaas.config", "hunter2", "f:4"},
               {Side::kBoth, "ssl.key.pem", "hunter2", "f:5"},
               {Side::kBoth, "sasl.oauthbearer.config", "principal=hunter2", "f:7"},
               {Side::kBoth, "sasl.oauthbearer.extensions", "token=hunter2", "f:8"},
               {Side::kBoth, "sasl.kerberos.kinit.cmd", "echo hunter2 | kinit", "f:9"},
               {Side::kIn, "ssl_key", "hunter2", "f:10"},
               {Side::kOut, "basic.auth.user.info", "me:hunter2", "f:11"},
               {Side::kBoth, "sasl.oauthbearer.assertion.private.key.pem", "hunter2", "f:12"},
               {Side::kBoth, "sasl.oauthbearer.token.endpoint.url", "https://me:hunter2@a/", ""},
               {Side::kBoth, "sasl.oauthbearer.client.id", "app", "f:14"},
               {Side::kBoth, "sasl.username", "me", "f:6"},
               {Side::kIn, "client.id", "reader", "-X"}});
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(text, HasSubstr("sasl.username = me"));
  EXPECT_THAT(text, HasSubstr("sasl.oauthbearer.client.id = app"));
  EXPECT_THAT(text, HasSubstr("# f:6\n"));
  EXPECT_THAT(text, HasSubstr("in.client.id = reader"));
}

}  // namespace
}  // namespace kstream
