// The engine in memory: an ordered tree. Begins empty.
#ifndef KSTREAM_STORE_MEMORY_MEMORY_ENGINE_H_
#define KSTREAM_STORE_MEMORY_MEMORY_ENGINE_H_

#include <memory>

#include "store/engine.h"

namespace kstream::store::memory {

std::unique_ptr<Engine> NewEngine();

}  // namespace kstream::store::memory

#endif  // KSTREAM_STORE_MEMORY_MEMORY_ENGINE_H_
