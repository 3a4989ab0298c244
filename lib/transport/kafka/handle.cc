#include "transport/kafka/handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/stopped.h"
#include "transport/kafka/errors.h"

namespace kstream::transport::kafka {
namespace {

// A question is asked in turns, so that a refused log-in or a stop ends it early; turns without a
// broker to ask stay short.
constexpr std::chrono::milliseconds kFirstTurn{100};
constexpr std::chrono::milliseconds kLongestTurn{3200};
constexpr std::chrono::milliseconds kAskPause{20};  // between two that were answered at once
constexpr int kLastAskMs = 1000;

// What an abandoned client may still call into lives to the end of the process.
void KeepForGood(std::shared_ptr<void> kept) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(*mutex);
  all->push_back(std::move(kept));
}

// librdkafka 2.0 does not always end a client whose topic was deleted and made again while it was
// read: its destroy waits for itself. So that has a thread of its own, and a limit.
constexpr std::chrono::seconds kDestroyLimit{5};

void EndClient(rd_kafka_t* client, std::shared_ptr<void> kept) {
  std::promise<void> promise;
  const std::future<void> done = promise.get_future();
  std::thread([client, kept, promise = std::move(promise)]() mutable {
    rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    kept.reset();
    promise.set_value();
  }).detach();
  if (done.wait_for(kDestroyLimit) == std::future_status::ready) return;
  Log(LogLevel::kWarning,
      "librdkafka: a client did not end, and is left to the end of the process");
}

}  // namespace

Handle::Handle(const Options& options, void* owner)
    : owner_(owner),
      deadline_(options.deadline),
      stop_(options.stop),
      brokers_(options.bootstrap) {}

Result<std::unique_ptr<Handle>> Handle::New(rd_kafka_type_t type, Conf conf, const Options& options,
                                            void* owner) {
  std::unique_ptr<Handle> handle(new Handle(options, owner));
  handle->brokers_ = Get(conf.get(), "bootstrap.servers");
  rd_kafka_conf_set_opaque(conf.get(), handle.get());
  rd_kafka_conf_set_error_cb(conf.get(), OnError);
  rd_kafka_conf_set_log_cb(conf.get(), OnLog);
  char error[512];
  handle->client_ = rd_kafka_new(type, conf.get(), error, sizeof error);
  if (handle->client_ == nullptr) return Status::Usage(fmt::format("properties: {}", error));
  std::ignore = conf.release();  // the client's now
  return handle;
}

Handle::~Handle() {
  if (client_ == nullptr) return;
  if (abandoned_) {
    KeepForGood(std::move(kept_));
  } else {
    EndClient(client_, std::move(kept_));
  }
}

void Handle::OnError(rd_kafka_t*, int error, const char* reason, void* opaque) {
  auto* self = static_cast<Handle*>(opaque);
  switch (error) {
    case RD_KAFKA_RESP_ERR__FATAL:
      self->NoteFatal();
      return;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
      if (self->fatal_.ok()) {
        self->fatal_ = Status::Cluster(
            fmt::format("cannot log in to {} ({}): check the sasl.* and ssl.* properties",
                        self->brokers_, reason));
      }
      return;
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART: {
      // "name [partition]: ...", of a partition that is being read.
      const std::string_view where =
          std::string_view(reason).substr(0, std::string_view(reason).find(": "));
      if (self->fatal_.ok()) {
        self->fatal_ = Status::Cluster(
            fmt::format("topic {} does not exist any more: start again when it is back", where));
      }
      self->Abandon();
      return;
    }
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
      if (!self->silent_since_) self->silent_since_ = Clock::now();
      return;
    default:
      self->reason_ = reason;
  }
}

void Handle::NoteFatal() {
  char text[512];
  const rd_kafka_resp_err_t code = rd_kafka_fatal_error(client_, text, sizeof text);
  // The producer has the record that this is about, and deals with it.
  if (code == RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE) return;
  if (fatal_.ok()) fatal_ = ClusterError(code, text);
}

Status Handle::Explain(rd_kafka_resp_err_t error, std::string_view what) {
  if (error == RD_KAFKA_RESP_ERR__FATAL) {
    NoteFatal();
    if (!fatal_.ok()) return fatal_;
  }
  Status status = ClusterError(error, what);
  // Nobody may be two.
  if (error == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID && fatal_.ok()) fatal_ = status;
  return status;
}

// Warnings and worse are for everyone. What librdkafka says while it retries by itself is told
// once, when it matters, by Unreachable().
void Handle::OnLog(const rd_kafka_t*, int level, const char* facility, const char* text) {
  constexpr int kWarning = 4;
  constexpr std::array<std::string_view, 5> kRetries = {"FAIL", "ERROR", "FATAL", "GETPID",
                                                        "CONFWARN"};
  const bool retry = std::ranges::count(kRetries, facility) > 0;
  const LogLevel to = level <= kWarning && !retry ? LogLevel::kWarning : LogLevel::kDebug;
  if (LogEnabled(to)) Log(to, fmt::format("librdkafka: {}: {}", facility, text));
}

Status Handle::Unreachable() const {
  std::string_view reason = reason_;
  // "name:port/bootstrap: Connect to ... failed: Connection refused (after 0ms in state CONNECT)"
  if (size_t state = reason.find(" (after "); state != reason.npos)
    reason = reason.substr(0, state);
  return Status::Cluster(
      fmt::format("cannot reach {} within {} s{}{}{}: check -b and that the "
                  "brokers run",
                  brokers_, deadline_.count() / 1000.0, reason.empty() ? "" : " (", reason,
                  reason.empty() ? "" : ")"));
}

Status Handle::Check() {
  if (!fatal_.ok()) return fatal_;
  if (!silent_since_ || Clock::now() - *silent_since_ < deadline_) return Status::Ok();
  const rd_kafka_metadata_t* answer = nullptr;
  if (rd_kafka_metadata(client_, 0, nullptr, &answer, kLastAskMs) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(answer);
    Heard();
    return Status::Ok();
  }
  return Unreachable();
}

void Handle::UseConsumerQueue() {
  rd_kafka_poll_set_consumer(client_);
  own_queue_ = false;
}

Status Handle::Stopped(std::string_view what) const {
  return kstream::Stopped(fmt::format("stopped while {}, and {} had not answered", what, brokers_));
}

Status Handle::Try(std::string_view what, const std::function<rd_kafka_resp_err_t(int ms)>& ask) {
  const Clock::time_point end = Clock::now() + deadline_;
  for (std::chrono::milliseconds turn = kFirstTurn;;) {
    const Clock::time_point begin = Clock::now();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - begin);
    const rd_kafka_resp_err_t error =
        ask(static_cast<int>(std::clamp<int64_t>(left.count(), 1, turn.count())));
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      Heard();
      return Status::Ok();
    }
    if (own_queue_) rd_kafka_poll(client_, 0);
    if (!fatal_.ok()) return fatal_;
    if (!IsTransient(error)) return Explain(error, what);
    if (stopped()) return Stopped(what);
    if (Clock::now() >= end) return silent() ? Unreachable() : ClusterError(error, what);
    // A broker that is there may be far away: a question must be given the time for its answer.
    if (error != RD_KAFKA_RESP_ERR__TRANSPORT) turn = std::min(2 * turn, kLongestTurn);
    std::this_thread::sleep_until(begin + kAskPause);
  }
}

Result<Metadata> Handle::Describe(rd_kafka_topic_t* topic) {
  const rd_kafka_metadata_t* answer = nullptr;
  KSTREAM_RETURN_IF_ERROR(Try("asking for metadata", [&](int ms) {
    return rd_kafka_metadata(client_, topic == nullptr, topic, &answer, ms);
  }));
  return Metadata(answer);
}

}  // namespace kstream::transport::kafka
