#include "kstream/processor.h"

namespace kstream {

ProcessorContext::~ProcessorContext() = default;
Processor::~Processor() = default;
Status Processor::Init(ProcessorContext&) { return Status::Ok(); }
void Processor::Close() {}

}  // namespace kstream
