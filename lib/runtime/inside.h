// Inside: marks the threads that are inside a run: its own, and whoever tells its listener. What
// waits for the end of the run would wait for itself there, so the runtime refuses it. Tested by
// tests/unit/runtime/inside_test.cc and runtime_test.cc.
#ifndef KSTREAM_RUNTIME_INSIDE_H_
#define KSTREAM_RUNTIME_INSIDE_H_

namespace kstream::runtime {

// The thread that makes it is inside `run`, which may be any address, until it is destroyed. A
// thread may be inside several runs, as when a listener of one closes another: then they end in the
// reverse of their order.
class Inside {
 public:
  explicit Inside(const void* run);
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  // Whether this thread is.
  static bool Of(const void* run);

 private:
  const void* const run_;
  const Inside* const outer_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_INSIDE_H_
