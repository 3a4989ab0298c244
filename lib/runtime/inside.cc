#include "runtime/inside.h"

namespace kstream::runtime {
namespace {

thread_local const Inside* innermost = nullptr;

}  // namespace

Inside::Inside(const void* run) : run_(run), outer_(innermost) { innermost = this; }

Inside::~Inside() { innermost = outer_; }

bool Inside::Of(const void* run) {
  for (const Inside* inside = innermost; inside != nullptr; inside = inside->outer_) {
    if (inside->run_ == run) return true;
  }
  return false;
}

}  // namespace kstream::runtime
