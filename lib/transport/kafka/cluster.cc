#include <utility>

#include "transport/kafka/admin.h"
#include "transport/kafka/config.h"
#include "transport/kafka/consumer.h"
#include "transport/kafka/kafka_cluster.h"
#include "transport/kafka/producer.h"
#include "transport/kafka/producer_transactions.h"

namespace kstream::transport::kafka {
namespace {

class KafkaCluster : public Cluster {
 public:
  explicit KafkaCluster(const Options& options) : options_(options) {}

  const std::string& name() const override { return options_.name; }
  Result<std::unique_ptr<Consumer>> NewConsumer(const ConsumerOptions& options) override {
    return KafkaConsumer::New(options_, options);
  }
  Result<std::unique_ptr<Producer>> NewProducer(const ProducerOptions& options) override {
    if (options.transactional_id.empty()) return KafkaProducer::New(options_, options);
    return TransactionalProducer::New(options_, options, batch_limit_);
  }
  Result<std::unique_ptr<Admin>> NewAdmin() override { return KafkaAdmin::New(options_); }

 private:
  const Options options_;
  const std::shared_ptr<BatchLimit> batch_limit_ = std::make_shared<BatchLimit>(kBatchBytes);
};

}  // namespace

Result<std::unique_ptr<Cluster>> NewCluster(const Options& options) {
  KSTREAM_ASSIGN_OR_RETURN(Conf consumer, ConsumerConf(options, {}));
  KSTREAM_RETURN_IF_ERROR(ProducerConf(options, {}, kBatchBytes).status());
  if (Get(consumer.get(), "bootstrap.servers").empty()) {
    return Status::Usage("no brokers: name them with -b");
  }
  return std::unique_ptr<Cluster>(std::make_unique<KafkaCluster>(options));
}

}  // namespace kstream::transport::kafka
