#include "transport/kafka/errors.h"

#include <fmt/format.h>

#include "transport/kafka/raii.h"

namespace kstream::transport::kafka {

bool IsMissing(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
         error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
}

bool IsFenced(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
      return true;
    default:
      return false;
  }
}

bool IsHopeless(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
      return true;
    default:
      return IsMissing(error);
  }
}

bool IsTransient(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT:
      return true;
    default:
      return false;
  }
}

Status TopicMissing(std::string_view topic, bool output) {
  return Status::Cluster(fmt::format(
      "topic {} does not exist: {}", topic,
      output ? "create it, or pass --create-output" : "create it, or check its name and -b"));
}

Status ClusterError(rd_kafka_resp_err_t error, std::string_view what) {
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Ok();
  if (IsFenced(error)) {
    const char* why = "another instance has taken over, or the session ran out: start again";
    if (error == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED) {
      why = "no poll for max.poll.interval.ms: raise it if a record may take so long";
    } else if (error == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID) {
      why = "another member has the same group.instance.id: give each its own";
    }
    return Status(StatusCode::kFenced, fmt::format("{}: put out of the group ({}): {}", what,
                                                   rd_kafka_err2name(error), why));
  }
  std::string_view advice;
  switch (error) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
      advice = "no answer in time: check -b and that the brokers run";
      break;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR__SSL:
      advice = "log-in failed: check the sasl.* and ssl.* properties";
      break;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      advice = "not authorised for the topic: ask for the right to it";
      break;
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      advice = "not authorised for the group: ask for READ on it, or choose another -G";
      break;
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      advice = "not authorised on the cluster: ask for the right to do this";
      break;
    default:
      return Status::Cluster(fmt::format("{}: {}", what, rd_kafka_err2str(error)));
  }
  return Status::Cluster(fmt::format("{}: {}", what, advice));
}

Status ClusterError(rd_kafka_error_t* error, std::string_view what) {
  if (error == nullptr) return Status::Ok();
  Error owned(error);
  const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
  if (IsFenced(code) || IsTransient(code)) return ClusterError(code, what);
  return Status::Cluster(fmt::format("{}: {}", what, rd_kafka_error_string(error)));
}

}  // namespace kstream::transport::kafka
