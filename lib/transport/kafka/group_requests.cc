#include "transport/kafka/group_requests.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "transport/kafka/ask.h"

namespace kstream::transport::kafka {
namespace {

using AlterOffsets = std::unique_ptr<rd_kafka_AlterConsumerGroupOffsets_t,
                                     Destroy<rd_kafka_AlterConsumerGroupOffsets_destroy>>;
using DeleteOffsets = std::unique_ptr<rd_kafka_DeleteConsumerGroupOffsets_t,
                                      Destroy<rd_kafka_DeleteConsumerGroupOffsets_destroy>>;
using ListOffsets = std::unique_ptr<rd_kafka_ListConsumerGroupOffsets_t,
                                    Destroy<rd_kafka_ListConsumerGroupOffsets_destroy>>;

std::string Text(const char* text) { return text == nullptr ? "" : text; }

GroupDescription Describe(const rd_kafka_ConsumerGroupDescription_t* group) {
  GroupDescription description;
  const auto state = rd_kafka_ConsumerGroupDescription_state(group);
  if (state == RD_KAFKA_CONSUMER_GROUP_STATE_DEAD) return description;  // never was, or no more
  description.state = rd_kafka_consumer_group_state_name(state);
  const size_t members = rd_kafka_ConsumerGroupDescription_member_count(group);
  for (size_t i = 0; i < members; i++) {
    const auto* member = rd_kafka_ConsumerGroupDescription_member(group, i);
    GroupMember& shown = description.members.emplace_back();
    shown.client_id = Text(rd_kafka_MemberDescription_client_id(member));
    shown.instance_id = Text(rd_kafka_MemberDescription_group_instance_id(member));
    shown.member_id = Text(rd_kafka_MemberDescription_consumer_id(member));
    shown.host = Text(rd_kafka_MemberDescription_host(member));
    const auto* assignment = rd_kafka_MemberDescription_assignment(member);
    if (assignment == nullptr) continue;
    for (const auto& element : Elements(rd_kafka_MemberAssignment_partitions(assignment))) {
      shown.assigned.push_back({element.topic, element.partition});
    }
  }
  return description;
}

// Asks until the coordinator of the group answers: it may be moving, or just be made. `send` as for
// Ask; `outcome(event)` is the outcome for the group; an error of the whole answer is judged by
// `judge` as one of the group is.
template <typename Send, typename Outcome, typename Judge>
Status AskCoordinator(Handle* handle, rd_kafka_admin_op_t op, const std::string& what, Send send,
                      Outcome outcome, Judge judge) {
  const Clock::time_point end = Clock::now() + handle->deadline();
  Status unanswered;
  const Status status = handle->Try(what, [&](int) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const Result<Event> event = AnswerOf(handle, op, what, left, Lapse::kNever, send);
    unanswered = event.status();
    if (!event.ok()) return RD_KAFKA_RESP_ERR__FAIL;
    if (*event == nullptr) return RD_KAFKA_RESP_ERR__TIMED_OUT;
    const rd_kafka_resp_err_t whole = rd_kafka_event_error(event->get());
    const rd_kafka_resp_err_t error =
        whole == RD_KAFKA_RESP_ERR_NO_ERROR ? outcome(event->get()) : whole;
    if (error > RD_KAFKA_RESP_ERR_NO_ERROR) handle->Heard();  // it is a broker's own
    return judge(error);
  });
  KSTREAM_RETURN_IF_ERROR(unanswered);
  return status;
}

// The one group that was asked about; an error where there is none or more.
const rd_kafka_group_result_t* Only(const rd_kafka_group_result_t* const* groups, size_t count) {
  return count == 1 ? groups[0] : nullptr;
}

// Of the whole group; else the first of its partitions that has one.
rd_kafka_resp_err_t ErrorOf(const rd_kafka_group_result_t* group) {
  if (group == nullptr) return RD_KAFKA_RESP_ERR__FAIL;
  const rd_kafka_resp_err_t whole = rd_kafka_error_code(rd_kafka_group_result_error(group));
  if (whole != RD_KAFKA_RESP_ERR_NO_ERROR) return whole;
  const auto* const list = rd_kafka_group_result_partitions(group);
  if (list == nullptr) return RD_KAFKA_RESP_ERR_NO_ERROR;
  for (const auto& element : Elements(list)) {
    if (element.err != RD_KAFKA_RESP_ERR_NO_ERROR) return element.err;
  }
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

bool IsUnknownGroup(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND;
}

// To a question: nothing is known of it.
rd_kafka_resp_err_t KnownOrNot(rd_kafka_resp_err_t error) {
  return IsUnknownGroup(error) ? RD_KAFKA_RESP_ERR_NO_ERROR : error;
}

// What a broker says of a group that is in use.
bool IsInUse(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID ||
         error == RD_KAFKA_RESP_ERR_NON_EMPTY_GROUP ||
         error == RD_KAFKA_RESP_ERR_GROUP_SUBSCRIBED_TO_TOPIC ||
         error == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS;
}

// Asks the coordinator for a change of the group's commits, which it refuses while the group has
// members. `harmless`: errors after which all is as it was to be.
template <typename Send, typename Outcome, typename Harmless>
Status Change(Handle* handle, const std::string& group, rd_kafka_admin_op_t op,
              const std::string& what, Send send, Outcome outcome, Harmless harmless) {
  bool in_use = false;
  const Status status =
      AskCoordinator(handle, op, what, send, outcome, [&](rd_kafka_resp_err_t error) {
        in_use = IsInUse(error);
        return in_use || harmless(error) ? RD_KAFKA_RESP_ERR_NO_ERROR : error;
      });
  return in_use ? GroupInUse(group) : status;
}

}  // namespace

Result<GroupDescription> DescribeGroup(Handle* handle, const std::string& group) {
  const std::string what = "asking for the members of group " + group;
  GroupDescription description;
  const Status status = AskCoordinator(
      handle, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, what,
      [&](auto* options, auto* queue) {
        const char* groups[] = {group.c_str()};
        rd_kafka_DescribeConsumerGroups(handle->get(), groups, 1, options, queue);
      },
      [&](rd_kafka_event_t* event) {
        size_t count = 0;
        const auto* const* groups = rd_kafka_DescribeConsumerGroups_result_groups(
            rd_kafka_event_DescribeConsumerGroups_result(event), &count);
        if (count != 1) return RD_KAFKA_RESP_ERR__FAIL;
        const rd_kafka_resp_err_t error =
            rd_kafka_error_code(rd_kafka_ConsumerGroupDescription_error(groups[0]));
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) description = Describe(groups[0]);
        return error;
      },
      KnownOrNot);
  KSTREAM_RETURN_IF_ERROR(status);
  return description;
}

Result<std::vector<PartitionOffset>> GroupOffsets(Handle* handle, const std::string& group) {
  const std::string what = "asking for the offsets of group " + group;
  const ListOffsets request(rd_kafka_ListConsumerGroupOffsets_new(group.c_str(), nullptr));
  std::vector<PartitionOffset> offsets;
  const Status status = AskCoordinator(
      handle, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, what,
      [&](auto* options, auto* queue) {
        // Those of a transaction that is open count when it has ended.
        const Error refused(rd_kafka_AdminOptions_set_require_stable_offsets(options, 1));
        rd_kafka_ListConsumerGroupOffsets_t* requests[] = {request.get()};
        rd_kafka_ListConsumerGroupOffsets(handle->get(), requests, 1, options, queue);
      },
      [&](rd_kafka_event_t* event) {
        size_t count = 0;
        const auto* const* groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
            rd_kafka_event_ListConsumerGroupOffsets_result(event), &count);
        const rd_kafka_group_result_t* const found = Only(groups, count);
        offsets.clear();
        const rd_kafka_resp_err_t error = ErrorOf(found);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
        for (const auto& element : Elements(rd_kafka_group_result_partitions(found))) {
          if (element.offset < 0) continue;
          std::string metadata;
          if (element.metadata != nullptr) {
            metadata.assign(static_cast<const char*>(element.metadata), element.metadata_size);
          }
          offsets.push_back(
              {{element.topic, element.partition}, element.offset, std::move(metadata)});
        }
        return RD_KAFKA_RESP_ERR_NO_ERROR;
      },
      KnownOrNot);
  KSTREAM_RETURN_IF_ERROR(status);
  return offsets;
}

Status SetGroupOffsets(Handle* handle, const std::string& group,
                       std::span<const PartitionOffset> offsets) {
  if (offsets.empty()) return Status::Ok();
  const std::string what = "setting the offsets of group " + group;
  const PartitionList list = ToCommit(offsets);
  const AlterOffsets request(rd_kafka_AlterConsumerGroupOffsets_new(group.c_str(), list.get()));
  return Change(
      handle, group, RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS, what,
      [&](auto* options, auto* queue) {
        rd_kafka_AlterConsumerGroupOffsets_t* requests[] = {request.get()};
        rd_kafka_AlterConsumerGroupOffsets(handle->get(), requests, 1, options, queue);
      },
      [&](rd_kafka_event_t* event) {
        size_t count = 0;
        const auto* const* groups = rd_kafka_AlterConsumerGroupOffsets_result_groups(
            rd_kafka_event_AlterConsumerGroupOffsets_result(event), &count);
        return ErrorOf(Only(groups, count));
      },
      [](rd_kafka_resp_err_t) { return false; });
}

Status DeleteGroupOffsets(Handle* handle, const std::string& group,
                          std::span<const TopicPartition> partitions) {
  if (partitions.empty()) return Status::Ok();
  const std::string what = "deleting offsets of group " + group;
  const PartitionList list = ToList(partitions);
  const DeleteOffsets request(rd_kafka_DeleteConsumerGroupOffsets_new(group.c_str(), list.get()));
  return Change(
      handle, group, RD_KAFKA_ADMIN_OP_DELETECONSUMERGROUPOFFSETS, what,
      [&](auto* options, auto* queue) {
        rd_kafka_DeleteConsumerGroupOffsets_t* requests[] = {request.get()};
        rd_kafka_DeleteConsumerGroupOffsets(handle->get(), requests, 1, options, queue);
      },
      [&](rd_kafka_event_t* event) {
        size_t count = 0;
        const auto* const* groups = rd_kafka_DeleteConsumerGroupOffsets_result_groups(
            rd_kafka_event_DeleteConsumerGroupOffsets_result(event), &count);
        return ErrorOf(Only(groups, count));
      },
      [](rd_kafka_resp_err_t error) { return IsUnknownGroup(error) || IsMissing(error); });
}

}  // namespace kstream::transport::kafka
