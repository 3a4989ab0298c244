// What the settings of an internal topic, which the runtime made right and anyone may have altered
// since, do to the application that it belongs to.
#ifndef KSTREAM_ADMIN_INTERNAL_SETTINGS_H_
#define KSTREAM_ADMIN_INTERNAL_SETTINGS_H_

#include <map>
#include <string>

#include "kstream/internal_topics.h"
#include "kstream/online_check.h"

namespace kstream::admin {

// `settings`: as the broker tells them. What is wrong becomes a problem or a warning of the report.
void JudgeInternalTopic(const InternalTopicNeed& need,
                        const std::map<std::string, std::string>& settings, OnlineReport* report);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_INTERNAL_SETTINGS_H_
