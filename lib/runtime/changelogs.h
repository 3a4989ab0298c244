// Changelogs: the topics that journal the stores which the runtime keeps: which there are, how they
// are made, and what they must be like at a start.
//
// Partition i of a store's changelog is the journal of its instance in task i, so three numbers are
// one: tasks of the stage, instances of the store, partitions of the topic. The manifest names a
// changelog before it is made and says when it has been: one that was made and is not there any
// more is lost state, which nobody may replace by an empty topic. Tested by
// tests/unit/runtime/planner_test.cc and, on a broker, changelogs_test.cc.
#ifndef KSTREAM_RUNTIME_CHANGELOGS_H_
#define KSTREAM_RUNTIME_CHANGELOGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/record.h"
#include "kstream/status.h"
#include "runtime/manifest.h"
#include "store/engine.h"
#include "topology/graph.h"
#include "transport/admin.h"

namespace kstream::runtime {

using TopicSettings = std::map<std::string, std::string>;

// The changelog of a store in a run with an app on topics; nullopt: it has none. The partition of
// an instance is the number of its task.
std::optional<std::string> ChangelogOf(std::string_view app, const TopologyStore& store);

// What a changelog is made with: compacted, so that it holds the last value of every key;
// tombstones stay for 7 days, within which an instance that was away sees them; of any timestamp,
// since clocks of hosts and brokers differ.
const TopicSettings& ChangelogSettings();

// Whether a changelog that is there still keeps what a restore needs. kState, with what it is and
// what it must be: it does not.
Status CheckChangelogSettings(const std::string& topic, const TopicSettings& found);

// `recorded` tells of the last run. The changelog of a store of stage number `stage` has as many
// partitions there as the stage had tasks, or the store was another stage's then: kState, both
// counts.
Status CheckChangelogFits(std::string_view app, const Manifest& recorded, size_t stage,
                          const TopologyStore& store);

// Of a changelog record: the event time of its row, ms since the epoch, in decimal digits. The
// record itself carries the wall clock, since brokers age by it and refuse what is far ahead.
inline constexpr std::string_view kRowTimeHeader = "kstream.timestamp";
// That time; the record's own where the header is none.
int64_t RowTimeOf(const Record& record);

// The record that journals a change, stamped with the wall clock `now`, ms. A view of the change.
class ChangelogRecord {
 public:
  ChangelogRecord(const store::Change& change, int64_t now);
  ChangelogRecord(const ChangelogRecord&) = delete;
  ChangelogRecord& operator=(const ChangelogRecord&) = delete;
  const Record& record() const { return record_; }

 private:
  const std::string time_;
  const Header header_;
  Record record_;
};

// Why a store that stands at `at` cannot go on from there in a changelog of these ends, and has to
// be made anew; empty: it can, unless the record that it stands at is another. `now`: wall clock,
// ms.
std::string WhyAnew(const store::Checkpoint& at, std::string_view incarnation,
                    transport::Admin::Watermarks log, int64_t now);

// kState: the changelog ends before what the store has seen of it. What is in the store alone would
// be lost to whoever restores, and a rebuilt store would be a wrong one, so a person decides.
Status CheckReaches(const store::Checkpoint& at, std::string_view incarnation,
                    const transport::TopicPartition& changelog, std::string_view store,
                    transport::Admin::Watermarks log, std::string_view app);

// kState: `topic` was made and is gone.
Status ChangelogGone(std::string_view app, const std::string& topic);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_CHANGELOGS_H_
