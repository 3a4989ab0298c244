// The server in front of a run: what each path says, and who may ask.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "http/routes.h"
#include "kstream/http.h"
#include "record/json_document.h"
#include "unit/http/client.h"
#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream::http {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Counts the lines of a pipe by what they say, in two tasks.
class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(mkfifo((folder_.path() + "/pipe").c_str(), 0600), 0);
    pipe_.open(folder_.path() + "/pipe", std::ios::in | std::ios::out);
    RuntimeOptions options;
    options.store_type = StoreSpec::Engine::kMemory;
    options.commit_interval = milliseconds(1);
    options.partitions = 2;
    const ProcessorSupplier count =
        Does([this](ProcessorContext& context, const Record& record) -> Status {
          if (record.value == "\"bad\"") return Status::Data("bad");
          KSTREAM_ASSIGN_OR_RETURN(StateStore* const found, context.Store("counts"));
          auto* const counts = dynamic_cast<KeyValueStore*>(found);
          KSTREAM_ASSIGN_OR_RETURN(const auto before, counts->Get(*record.value));
          done_++;
          return counts->Put(*record.value, std::to_string(before ? std::stol(*before) + 1 : 1), 7);
        });
    TopologyBuilder builder;
    builder
        .AddSource("in", {.inputs = {{Location::Kind::kFile, "", folder_.path() + "/pipe"}},
                          .key = *Expression::Compile(".")})
        .AddProcessor("count", count, {"in"})
        .AddStore(StoreSpec{.name = "counts"}, {"count"})
        .AddSink("out", {.output = {Location::Kind::kFile, "", folder_.path() + "/out"}},
                 {"count"});
    auto runtime = Runtime::Create(*builder.Build(), options);
    ASSERT_TRUE(runtime.ok()) << Said(runtime.status());
    runtime_ = *std::move(runtime);
  }
  void TearDown() override {
    server_.reset();
    runtime_.reset();
  }

  void Serve(HttpOptions options = {}) {
    auto server = HttpServer::Start(runtime_.get(), std::move(options));
    ASSERT_TRUE(server.ok()) << Said(server.status());
    server_ = *std::move(server);
    port_ = static_cast<uint16_t>(std::stoi(server_->url().substr(server_->url().rfind(':') + 1)));
  }
  void StartWith(const std::vector<std::string>& lines) {
    ASSERT_TRUE(runtime_->Start().ok());
    for (const std::string& line : lines) pipe_ << '"' << line << "\"\n";
    pipe_.flush();
    // Until all of it is committed; a test that waits in vain ends by ctest's limit.
    while (CommittedRows() < lines.size()) std::this_thread::yield();
  }
  size_t CommittedRows() const {
    size_t rows = 0;
    for (const StoreInstance& instance : *runtime_->Store("counts")) {
      const auto count = [&rows](std::string_view, std::string_view, int64_t) {
        return ++rows > 0;
      };
      static_cast<void>(instance.rows->RangeRows("", std::nullopt, count));
    }
    return rows;
  }
  std::string Get(const std::string& path, const std::string& headers = "") const {
    return Ask(port_, "GET " + path + " HTTP/1.1\r\n" + headers + "\r\n");
  }
  std::string Post(const std::string& path, const std::string& headers = "") const {
    return Ask(port_, "POST " + path + " HTTP/1.1\r\nContent-Length: 0\r\n" + headers + "\r\n");
  }
  // Keys of the lines of an answer, between blanks.
  std::string Keys(const std::string& path) const {
    const std::string answer = Get(path);
    EXPECT_EQ(StatusOf(answer), 200) << answer;
    std::string keys;
    constexpr std::string_view kKey = "\"key\":\"\\\"";
    for (size_t at = 0; (at = answer.find(kKey, at)) != answer.npos; at += kKey.size()) {
      keys +=
          answer.substr(at + kKey.size(), answer.find('\\', at + kKey.size()) - at - kKey.size());
      keys += ' ';
    }
    return keys;
  }

  TestFolder folder_;
  std::fstream pipe_;
  std::atomic<int> done_ = 0;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
};

TEST_F(ServerTest, TellsHowTheRunIs) {
  Serve({.plan = "{\"stage\":\"x\",\"nodes\":[]}\n"});
  EXPECT_EQ(BodyOf(Get("/health")), "CREATED\n");
  EXPECT_EQ(StatusOf(Get("/ready")), 503);
  StartWith({"a", "b"});
  EXPECT_EQ(StatusOf(Get("/health")), 200);
  EXPECT_EQ(StatusOf(Get("/ready")), 200);
  const std::string metrics = Get("/metrics");
  EXPECT_THAT(metrics, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(metrics, HasSubstr("\nkstream_runtime_state{state=\"running\"} 1\n"));
  const std::string topology = Get("/topology");
  EXPECT_THAT(topology, HasSubstr("Content-Type: application/json\r\n"));
  const std::string body = BodyOf(topology);
  json::Reader reader;
  json::Document document;
  ASSERT_TRUE(reader.Parse(body, &document).ok()) << body;
  EXPECT_EQ(document.Raw(document.Find(document.root(), "stage")), "\"x\"");
  const json::Node status = document.Find(document.root(), "status");
  ASSERT_NE(status, json::kNoNode);
  EXPECT_EQ(document.Raw(document.Find(status, "state")), "\"RUNNING\"");
  EXPECT_EQ(document.Raw(document.Find(status, "ready")), "true");
  EXPECT_THAT(
      std::string(document.Raw(document.Find(status, "stores"))),
      AllOf(HasSubstr("{\"store\":\"counts\",\"task\":0,\"offset\":0}"), HasSubstr("\"task\":1")));
  EXPECT_THAT(std::string(document.Raw(document.Find(status, "tasks"))),
              HasSubstr("{\"name\":\"0_1\",\"stage\":0,\"task\":1,\"state\":\"running\""));
}

TEST_F(ServerTest, AFailureIsNoHealth) {
  Serve();
  ASSERT_TRUE(runtime_->Start().ok());
  pipe_ << "\"bad\"" << std::endl;
  EXPECT_FALSE(runtime_->Wait().ok());
  EXPECT_EQ(StatusOf(Get("/health")), 503);
  EXPECT_EQ(BodyOf(Get("/health")), "ERROR\n");
  EXPECT_EQ(StatusOf(Get("/ready")), 503);
  EXPECT_EQ(StatusOf(Get("/metrics")), 200) << "what it counted is there yet";
}

TEST_F(ServerTest, FindsRows) {
  Serve();
  StartWith({"a", "b", "c", "d/e", "bb"});
  EXPECT_THAT(BodyOf(Get("/stores")),
              HasSubstr("{\"store\":\"counts\",\"task\":0,\"offset\":0}\n"));
  const std::string one = Get("/stores/counts/%22a%22");
  EXPECT_EQ(StatusOf(one), 200);
  EXPECT_THAT(BodyOf(one),
              AllOf(HasSubstr("{\"store\":\"counts\",\"task\":"),
                    HasSubstr(",\"key\":\"\\\"a\\\"\",\"value\":1,\"timestamp\":7}\n")));
  EXPECT_EQ(StatusOf(Get("/stores/counts/%22d/e%22")), 200) << "a key may have a slash";
  EXPECT_EQ(StatusOf(Get("/stores/counts/x")), 404);
  EXPECT_EQ(StatusOf(Get("/stores/none/x")), 404);
  EXPECT_EQ(StatusOf(Get("/stores/none")), 404);
  EXPECT_EQ(Keys("/stores/counts").size(), 13U) << "all five";
  EXPECT_THAT(Keys("/stores/counts?prefix=%22b"), testing::AnyOf("b bb ", "bb b "));
  EXPECT_EQ(Keys("/stores/counts?from=%22b%22&to=%22bb"), "b ");
  EXPECT_EQ(Keys("/stores/counts?limit=1").size(), 2U);
  EXPECT_EQ(Keys("/stores/counts?limit=0"), "");
  EXPECT_EQ(Keys("/stores/counts?task=0").size() + Keys("/stores/counts?task=1").size(), 13U);
  for (const char* wrong : {"limit=x", "limit=-1", "task=99999999999", "what=1", "limit=1&limit=2",
                            "prefix=a&from=b", "stored=2", "at-window=x"}) {
    EXPECT_EQ(StatusOf(Get(std::string("/stores/counts?") + wrong)), 400) << wrong;
  }
}

TEST_F(ServerTest, AnswersOfAnySizeComeInPieces) {
  Serve();
  std::vector<std::string> lines;
  for (int i = 0; i < 5000; i++) lines.push_back("key" + std::to_string(i));
  StartWith(lines);
  const std::string answer = Get("/stores/counts?limit=5000");
  EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked\r\n"));
  size_t rows = 0;
  for (size_t at = 0; (at = answer.find("{\"store\"", at)) != answer.npos; at++) rows++;
  EXPECT_EQ(rows, 5000U);
  EXPECT_TRUE(answer.ends_with("\r\n0\r\n\r\n"));
}

TEST_F(ServerTest, PausesAndResumes) {
  Serve();
  StartWith({"a"});
  EXPECT_EQ(BodyOf(Post("/pause")), "{\"paused\":true}\n");
  while (runtime_->Metrics().find("state=\"paused\"} 1") == std::string::npos) {
    std::this_thread::yield();
  }
  pipe_ << "\"b\"" << std::endl;
  EXPECT_EQ(StatusOf(Get("/ready")), 200) << "a pause is no failure";
  EXPECT_EQ(Keys("/stores/counts"), "a ") << "stores are read all the same";
  EXPECT_EQ(done_, 1);
  EXPECT_EQ(StatusOf(Get("/pause")), 405);
  EXPECT_EQ(StatusOf(Post("/stores/counts")), 405);
  EXPECT_EQ(BodyOf(Post("/resume")), "{\"paused\":false}\n");
  while (done_ < 2) std::this_thread::yield();
}

TEST_F(ServerTest, AStrangersPageGetsNothing) {
  Serve();
  EXPECT_EQ(StatusOf(Get("/metrics", "Host: localhost:80\r\n")), 200);
  EXPECT_EQ(StatusOf(Get("/metrics", "Host: evil.example\r\n")), 403);
  EXPECT_EQ(StatusOf(Post("/pause", "Host: localhost\r\nOrigin: http://evil.example\r\n")), 403);
  EXPECT_EQ(StatusOf(Post("/pause", "Host: localhost\r\nOrigin: null\r\n")), 403);
  EXPECT_FALSE(runtime_->paused());
  EXPECT_EQ(StatusOf(Post("/pause", "Host: localhost\r\nOrigin: http://localhost\r\n")), 200);
}

TEST_F(ServerTest, ATokenOpensAllButWhatSaysNothing) {
  Serve({.token = "secret"});
  for (const char* wrong : {"", "Authorization: secret\r\n", "Authorization: Bearer\r\n",
                            "Authorization: Bearer secre\r\n", "Authorization: Basic secret\r\n"}) {
    EXPECT_EQ(StatusOf(Get("/metrics", wrong)), 401) << wrong;
    EXPECT_EQ(StatusOf(Get("/stores/counts", wrong)), 401) << wrong;
    EXPECT_EQ(StatusOf(Post("/pause", wrong)), 401) << wrong;
    EXPECT_EQ(StatusOf(Get("/nothing", wrong)), 401) << wrong;
  }
  EXPECT_FALSE(runtime_->paused());
  const std::string right = "Authorization: Bearer secret\r\n";
  EXPECT_EQ(StatusOf(Get("/metrics", right)), 200);
  EXPECT_EQ(StatusOf(Get("/nothing", right)), 404);
  EXPECT_EQ(StatusOf(Get("/metrics", right + "Host: box.example\r\n")), 200);
  EXPECT_EQ(StatusOf(Get("/health")), 200);
  const std::string page = Get("/topology", "Accept: text/html\r\n");
  EXPECT_EQ(StatusOf(page), 200);
  EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("counts"))));
  EXPECT_EQ(StatusOf(Get("/topology")), 401);
}

TEST_F(ServerTest, OthersMayReachItWithATokenOnly) {
  HttpOptions options;
  ASSERT_TRUE(options.SetAddress("0.0.0.0:0").ok());
  const auto refused = HttpServer::Start(runtime_.get(), options);
  EXPECT_EQ(refused.status().code(), StatusCode::kUsage);
  EXPECT_THAT(Said(refused.status()), HasSubstr("token"));
  options.token = "secret";
  Serve(options);
  EXPECT_EQ(StatusOf(Get("/health")), 200);
  EXPECT_EQ(HttpOptions().SetAddress("here").code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream::http
