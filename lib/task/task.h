// Task: one copy of a topology's processors, fed by one thread, one record at a time.
//
// The hot path is a chain of virtual calls: source -> Process -> Forward -> ... ->
// RecordSink::Write. No record is queued or copied in between. Tested by
// tests/unit/task/task_test.cc.
#ifndef KSTREAM_TASK_TASK_H_
#define KSTREAM_TASK_TASK_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kstream/record.h"
#include "kstream/status.h"
#include "kstream/topology.h"
#include "topology/graph.h"

namespace kstream::task {

// Where the records of one sink go. Belongs to one thread; outlives the task.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // Takes what it needs of `record` before it returns. kData: this record cannot be written.
  virtual Status Write(const Record& record) = 0;
};

using SinkOf = std::function<RecordSink*(const TopologyNode& sink)>;

class Task {
 public:
  // `name` is "<stage>_<partition>". `sink_of` is asked once for each sink node.
  Task(const Topology& topology, std::string name, const SinkOf& sink_of);
  ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Initialises the processors, parents first. On failure the task may only be destroyed.
  Status Init();

  // Runs a record through everything below source number `source` (in the order they were added).
  // kData: the record is bad; anything else ends the stage.
  Status Process(size_t source, const Record& record);

  // Closes the processors, children first. Also done by the destructor.
  void Close();

 private:
  class Node;
  Topology topology_;  // keeps the graph that nodes point into
  std::string name_;
  std::vector<std::unique_ptr<Node>> nodes_;  // parallel to the graph's
  std::vector<Node*> sources_;
  size_t open_ = 0;  // nodes [0, open_) have been initialised
};

}  // namespace kstream::task

#endif  // KSTREAM_TASK_TASK_H_
