// The threads, mutexes and conditions of C11 by way of those of POSIX: for builds under the thread
// sanitizer.
//
// Debian's librdkafka takes those of C11, whose calls glibc makes among itself. The sanitizer sees
// none of them, and ends the process in the first such thread that comes to code of ours (an
// interceptor, a callback). A program that has these functions gives them to librdkafka in place of
// glibc's, whose types are those of POSIX underneath.
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include <cstdint>
#include <memory>

namespace {

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));

pthread_mutex_t* Posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* Posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }
int Outcome(int error) { return error == 0 ? thrd_success : thrd_error; }

struct Start {
  thrd_start_t run;
  void* argument;
};

void* Run(void* start) {
  const Start begin = *std::unique_ptr<Start>(static_cast<Start*>(start));
  return reinterpret_cast<void*>(static_cast<intptr_t>(begin.run(begin.argument)));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t run, void* argument) {
  auto start = std::make_unique<Start>(Start{run, argument});
  const int error = pthread_create(thread, nullptr, Run, start.get());
  if (error == 0) start.release();
  return Outcome(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  const int error = pthread_join(thread, &returned);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(returned));
  return Outcome(error);
}

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  const int error = pthread_mutex_init(Posix(mutex), &kind);
  pthread_mutexattr_destroy(&kind);
  return Outcome(error);
}

void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(Posix(mutex)); }
int mtx_lock(mtx_t* mutex) { return Outcome(pthread_mutex_lock(Posix(mutex))); }
int mtx_unlock(mtx_t* mutex) { return Outcome(pthread_mutex_unlock(Posix(mutex))); }

int cnd_init(cnd_t* condition) { return Outcome(pthread_cond_init(Posix(condition), nullptr)); }
void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(Posix(condition)); }
int cnd_signal(cnd_t* condition) { return Outcome(pthread_cond_signal(Posix(condition))); }
int cnd_broadcast(cnd_t* condition) { return Outcome(pthread_cond_broadcast(Posix(condition))); }

int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return Outcome(pthread_cond_wait(Posix(condition), Posix(mutex)));
}

int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  const int error = pthread_cond_timedwait(Posix(condition), Posix(mutex), until);
  return error == ETIMEDOUT ? thrd_timedout : Outcome(error);
}

}  // extern "C"
#pragma GCC visibility pop
