// Handle: one librdkafka client, and what it knows of its contact with the cluster.
//
// librdkafka retries for ever and says so in passing. A stage wants an end: when no broker has been
// heard for `deadline`, the call that needs one fails with kCluster. Failing is never decided on
// old news: before it gives up the handle asks once more, so an idle client of a cluster that came
// back goes on. Whoever waits looks at Options::stop, too.
//
// Belongs to the thread of its client. Tested by the tests of consumer, producer and admin.
#ifndef KSTREAM_TRANSPORT_KAFKA_HANDLE_H_
#define KSTREAM_TRANSPORT_KAFKA_HANDLE_H_

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kstream/status.h"
#include "transport/kafka/config.h"
#include "transport/kafka/raii.h"

namespace kstream::transport::kafka {

using Clock = std::chrono::steady_clock;

class Handle {
 public:
  // `owner` is what the callbacks set in `conf` get back from Owner(). kUsage when the properties
  // contradict each other.
  static Result<std::unique_ptr<Handle>> New(rd_kafka_type_t type, Conf conf,
                                             const Options& options, void* owner);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  rd_kafka_t* get() const { return client_; }
  template <typename T>
  static T* Owner(void* opaque) {
    return static_cast<T*>(static_cast<Handle*>(opaque)->owner_);
  }
  std::chrono::milliseconds deadline() const { return deadline_; }

  // Whether no broker has been heard yet, or all were lost.
  bool silent() const { return silent_since_.has_value(); }
  // A broker has been heard.
  void Heard() { silent_since_.reset(); }
  // What ends this client whatever else happens: kCluster when the log-in was refused, kFenced when
  // the group or the broker put it out.
  const Status& fatal() const { return fatal_; }
  // What `error` means for `what`. A fatal error only says that there is one: the client knows
  // which, and it becomes fatal().
  Status Explain(rd_kafka_resp_err_t error, std::string_view what);
  // fatal(), or kCluster when no broker has been heard for the deadline.
  Status Check();
  // "cannot reach ...", with the last reason that librdkafka gave.
  Status Unreachable() const;

  // Leaves the client to the end of the process instead of destroying it: librdkafka 2.0 never ends
  // one that was reading a topic when it was deleted. Any other that does not end within 5 s is
  // left so, too.
  void Abandon() { abandoned_ = true; }
  // Something that the client's own threads use: it lives as long as the client does.
  void Keep(std::shared_ptr<void> something) { kept_ = std::move(something); }

  // librdkafka's callbacks and messages come by the consumer queue alone from now on.
  void UseConsumerQueue();

  // Whether Options::stop says so.
  bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  // kStopped (base/stopped.h): what to return when it does.
  Status Stopped(std::string_view what) const;

  // Asks a question of the cluster that may wait for `ms`, again and again until it is answered,
  // the answer is an error that does not go away by itself, the deadline is over, or the stage is
  // stopped (kStopped). `what` is the action, as for ClusterError().
  Status Try(std::string_view what, const std::function<rd_kafka_resp_err_t(int ms)>& ask);

  // Metadata of one topic, or of all (null). The topic may be missing: the answer says so.
  Result<Metadata> Describe(rd_kafka_topic_t* topic);

 private:
  Handle(const Options& options, void* owner);
  void NoteFatal();
  static void OnError(rd_kafka_t* client, int error, const char* reason, void* opaque);
  static void OnLog(const rd_kafka_t* client, int level, const char* facility, const char* text);

  void* const owner_;
  const std::chrono::milliseconds deadline_;
  const std::atomic<bool>* const stop_;
  std::string brokers_;
  std::shared_ptr<void> kept_;
  rd_kafka_t* client_ = nullptr;
  std::optional<Clock::time_point> silent_since_ = Clock::now();
  std::string reason_;  // of the last failed connection
  Status fatal_;
  bool abandoned_ = false;
  bool own_queue_ = true;  // callbacks come by rd_kafka_poll
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_HANDLE_H_
