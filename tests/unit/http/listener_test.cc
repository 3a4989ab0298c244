// The wire: requests of all kinds of strangers, and what stays as it was.
#include "http/listener.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "unit/http/client.h"

namespace kstream::http {
namespace {

using std::chrono::milliseconds;
using testing::AnyOf;
using testing::HasSubstr;

class ListenerTest : public testing::Test {
 protected:
  void Open(const Limits& limits = {}) {
    const auto answer = [this](const Request& request) {
      asked_++;
      asked_.notify_all();
      last_ = request;
      if (request.path == "/waits") go_.wait(false);
      if (request.path == "/long") {
        return Answer{.more = [](std::string* piece) {
          piece->append(64 << 10, 'x');
          return Result<bool>(true);
        }};
      }
      if (request.path == "/cut") {
        return Answer{.body = "begin",
                      .more = [](std::string*) { return Result<bool>(Status::Data("no more")); }};
      }
      if (request.path == "/pieces") {
        return Answer{.body = "a", .more = [n = 0](std::string* piece) mutable {
                        *piece += "b";
                        return Result<bool>(++n < 2);
                      }};
      }
      return Answer{.body = "hello"};
    };
    auto listener = Listener::Open({"127.0.0.1", 0}, answer, limits);
    ASSERT_TRUE(listener.ok()) << listener.status().message();
    listener_ = *std::move(listener);
  }
  void TearDown() override {
    go_ = true;
    go_.notify_all();
    listener_.reset();
  }
  std::string Ask(std::string_view bytes) const { return http::Ask(listener_->port(), bytes); }

  std::unique_ptr<Listener> listener_;
  std::atomic<int> asked_ = 0;
  std::atomic<bool> go_ = false;
  Request last_;
};

TEST_F(ListenerTest, AnswersOneRequestAndCloses) {
  Open();
  const std::string answer =
      Ask("GET /a%20b/c?x=1&y=%2f HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer t\r\n"
          "Accept: text/html\r\nOrigin: http://localhost\r\n\r\nGET /again HTTP/1.1\r\n\r\n");
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_EQ(BodyOf(answer), "hello");
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(asked_, 1) << "one connection is one request";
  EXPECT_EQ(last_.method, "GET");
  EXPECT_EQ(last_.path, "/a b/c");
  EXPECT_EQ(last_.query.find("y")->second, "/");
  EXPECT_EQ(last_.host, "localhost");
  EXPECT_EQ(last_.authorization, "Bearer t");
  EXPECT_EQ(last_.accept, "text/html");
  EXPECT_EQ(last_.origin, "http://localhost");
}

TEST_F(ListenerTest, PiecesAndACutAreSeenAsSuch) {
  Open();
  EXPECT_EQ(BodyOf(Ask("GET /pieces HTTP/1.1\r\n\r\n")), "1\r\na\r\n1\r\nb\r\n1\r\nb\r\n0\r\n\r\n");
  const std::string cut = BodyOf(Ask("GET /cut HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(cut, "5\r\nbegin\r\n") << "the last piece, of no bytes, is missing";
}

TEST_F(ListenerTest, NonsenseIsTold) {
  Open();
  const std::string nothing(1, '\0');
  for (const std::string& bytes :
       {std::string("nonsense\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("BREW / HTTP/1.1\r\n\r\n"), std::string("GET\r\n\r\n"),
        std::string("\x16\x03\x01\x02\r\n\r\n"), nothing + nothing + "\r\n\r\n",
        std::string("GET / HTTP/1.1 and more\r\n\r\n")}) {
    EXPECT_EQ(StatusOf(Ask(bytes)), 400) << bytes;
  }
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(StatusOf(Ask("GET / HTTP/1.1\r\n\r\n")), 200) << "the next one is served";
}

TEST_F(ListenerTest, WhatIsTooLongIsCutShort) {
  Open();
  const std::string line = "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n";
  EXPECT_EQ(StatusOf(Ask(line)), 414);
  EXPECT_EQ(StatusOf(Ask("GET /" + std::string(100'000, 'a'))), 431);
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 10'000; i++) many += "X: y\r\n";
  EXPECT_EQ(StatusOf(Ask(many + "\r\n")), 431);
  EXPECT_EQ(StatusOf(Ask("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n")), 431);
  EXPECT_EQ(asked_, 0);
}

TEST_F(ListenerTest, HeadersThatAskForTooMuchAreNothing) {
  Open();
  std::string ranges = "0-";
  while (ranges.size() < 7000) ranges += ",0-";
  const std::string answer = Ask("GET / HTTP/1.1\r\nRange: bytes=" + ranges + "\r\n\r\n");
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_EQ(BodyOf(answer), "hello") << "once";
  EXPECT_EQ(StatusOf(Ask("POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n" +
                         std::string(1000, 'x'))),
            200)
      << "nobody waits for a body";
  EXPECT_THAT(StatusOf(Ask("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n")), AnyOf(200, 400));
}

TEST_F(ListenerTest, ARequestThatDoesNotComeEnds) {
  Open({.request = milliseconds(50)});
  EXPECT_EQ(StatusOf(Ask("GET / HTTP/1.1\r\nX: ")), 408);
  EXPECT_EQ(StatusOf(Ask("GET / HT")), 0) << "not a line of it: there is nobody to answer";
  EXPECT_EQ(asked_, 0);
}

TEST_F(ListenerTest, AReaderThatDoesNotReadIsLeft) {
  Open({.write = milliseconds(50)});
  Client client(listener_->port(), 4096);
  client.Send("GET /long HTTP/1.1\r\n\r\n");
  asked_.wait(0);
  listener_.reset();  // would not come back if it waited for the reader
  EXPECT_EQ(StatusOf(client.Read()), 200);
}

TEST_F(ListenerTest, MoreConnectionsThanThereMayBeAreTurnedAway) {
  Open({.threads = 1, .connections = 2});
  Client served(listener_->port());
  served.Send("GET /waits HTTP/1.1\r\n\r\n");
  asked_.wait(0);
  Client waits(listener_->port());
  waits.Send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(StatusOf(Client(listener_->port()).Read()), 503);
  go_ = true;
  go_.notify_all();
  EXPECT_EQ(StatusOf(served.Read()), 200);
  EXPECT_EQ(StatusOf(waits.Read()), 200);
}

TEST_F(ListenerTest, EndsWhileSomebodyIsSilent) {
  Open();
  const Client silent(listener_->port());
  listener_.reset();
}

TEST_F(ListenerTest, AnAddressThatIsTakenIsToldAndNotShared) {
  Open();
  const auto again = Listener::Open({"127.0.0.1", listener_->port()}, nullptr);
  EXPECT_EQ(again.status().code(), StatusCode::kUsage);
  EXPECT_THAT(std::string(again.status().message()), HasSubstr("Address already in use"));
}

}  // namespace
}  // namespace kstream::http
