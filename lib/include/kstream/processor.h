// Processor: a node of a topology (KIP-28). Each task has processors of its own, so one is never
// called by two threads at once and needs no locks.
//
// Life: supplier() -> Init -> Process ... -> Close. After a failure of Init only Close is called.
#ifndef KSTREAM_PROCESSOR_H_
#define KSTREAM_PROCESSOR_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kstream/export.h"
#include "kstream/record.h"
#include "kstream/status.h"

namespace kstream {

// What a processor may do. Owned by the task; valid from Init to Close, on the task's thread only.
class KSTREAM_EXPORT ProcessorContext {
 public:
  virtual ~ProcessorContext();

  // Hands a record to every child, or to the child with that name, before it returns. A failure is
  // the processor's to return: it fails the record that is being processed.
  virtual Status Forward(const Record& record) = 0;
  virtual Status Forward(const Record& record, std::string_view child) = 0;

  // The node's own name, and the task's: "<stage>_<partition>".
  virtual std::string_view node() const = 0;
  virtual std::string_view task() const = 0;
};

class KSTREAM_EXPORT Processor {
 public:
  virtual ~Processor();

  // Called once before the first record. The context stays valid until Close.
  virtual Status Init(ProcessorContext& context);
  // `record` is a view that is valid during the call. kData: the record is bad, and the error
  // policy of the stage decides; any other failure ends the stage.
  virtual Status Process(const Record& record) = 0;
  virtual void Close();
};

// Makes a fresh processor for each task. Called from several threads.
using ProcessorSupplier = std::function<std::unique_ptr<Processor>()>;

}  // namespace kstream

#endif  // KSTREAM_PROCESSOR_H_
