// librdkafka's errors as statuses: one line that says what failed and what to do about it.
#ifndef KSTREAM_TRANSPORT_KAFKA_ERRORS_H_
#define KSTREAM_TRANSPORT_KAFKA_ERRORS_H_

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

#include "kstream/status.h"

namespace kstream::transport::kafka {

// `what` is the action that failed ("reading orders[0]"). kCluster, or kFenced when the group or
// another producer has put this client out.
Status ClusterError(rd_kafka_resp_err_t error, std::string_view what);

// Takes the error, which may be null (ok), and destroys it.
Status ClusterError(rd_kafka_error_t* error, std::string_view what);

// The topic is not there. `output`: it could have been created by us.
Status TopicMissing(std::string_view topic, bool output);

// A missing topic, in the several spellings of broker and client.
bool IsMissing(rd_kafka_resp_err_t error);

// The member has lost its place: its generation or its id is no longer the group's.
bool IsFenced(rd_kafka_resp_err_t error);

// A missing topic or right: the same will happen to whoever tries again.
bool IsHopeless(rd_kafka_resp_err_t error);

// Goes away by itself: worth another try within the deadline.
bool IsTransient(rd_kafka_resp_err_t error);

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_ERRORS_H_
