// Safeguards: rules that seem to do nothing until the day when they are all that keeps the state
// whole.
//
// A test may switch one of them off, before any thread runs, to show what becomes of the state
// without it; nobody else writes here. Tested by tests/unit/testdriver/safeguards_test.cc. One
// more, that a record is given up before its owner's session can end, is the Kafka transport's own:
// shown with and without by tests/unit/transport/kafka/producer_test.cc.
#ifndef KSTREAM_RUNTIME_SAFEGUARDS_H_
#define KSTREAM_RUNTIME_SAFEGUARDS_H_

namespace kstream::runtime {

struct Safeguards {
  // The lead of a stage is the one that the manifest records, though another choice would be made
  // today. Members with different leads own every task twice.
  bool lead_of_manifest = true;
  // A restore reads to the end of the changelog, transactions included that are open. The last
  // stable offset would miss one whose marker is still on its way, while its positions are
  // committed.
  bool restore_to_watermark = true;
  // A store of another incarnation of the application is made anew.
  bool incarnation = true;
};

inline constinit Safeguards safeguards;

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_SAFEGUARDS_H_
