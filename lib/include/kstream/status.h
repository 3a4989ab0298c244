// Status and Result: how every part of kstream reports failure. No exception crosses the public
// API.
//
// A status carries a message of one line (what, where, what to do) and a code. The codes are the
// exit codes of the tools, so a failure keeps its meaning from the place that found it to the
// shell.
#ifndef KSTREAM_STATUS_H_
#define KSTREAM_STATUS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kstream/export.h"

namespace kstream {

enum class StatusCode : int {
  kOk = 0,           // done, and everything asked for is committed and flushed
  kNegative = 1,     // a negative answer: differences found, a test failed
  kUsage = 2,        // usage or configuration
  kExpression = 3,   // an expression or topology does not compile
  kCluster = 4,      // cluster: unreachable, not authorised, topic missing, offset lost
  kData = 5,         // a bad record, or output that could not be written
  kState = 6,        // state: locked, corrupt, full, does not fit its changelog
  kFenced = 7,       // fenced, or put out of the group
  kRefused = 8,      // refused for safety
  kTimeLimit = 124,  // a time limit given by the user ran out
};

// An outcome. Success is a null pointer and costs nothing. Movable, and copyable by sharing.
// Threads: a const Status may be read by many.
class [[nodiscard]] KSTREAM_EXPORT Status {
 public:
  Status() = default;
  // Lines of the message become one.
  Status(StatusCode code, std::string message);

  static Status Ok() { return Status(); }
  static Status Usage(std::string message) { return {StatusCode::kUsage, std::move(message)}; }
  static Status Expression(std::string message) {
    return {StatusCode::kExpression, std::move(message)};
  }
  static Status Cluster(std::string message) { return {StatusCode::kCluster, std::move(message)}; }
  static Status Data(std::string message) { return {StatusCode::kData, std::move(message)}; }
  static Status Refused(std::string message) { return {StatusCode::kRefused, std::move(message)}; }

  bool ok() const { return rep_ == nullptr; }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  // One line without a line end; empty when ok.
  std::string_view message() const {
    return rep_ ? std::string_view(rep_->message) : std::string_view();
  }
  // The same code, with `where` and ": " before the message. Ok stays ok.
  Status At(std::string_view where) const;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Rep> rep_;
};

// A T, or the Status that says why there is none (never ok then).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T operator*() && { return *std::move(value_); }  // a value: it outlives the Result
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace kstream

// Returns from the caller when `expression`, a Status, is not ok.
#define KSTREAM_RETURN_IF_ERROR(expression)                        \
  do {                                                             \
    if (::kstream::Status status_ = (expression); !status_.ok()) { \
      return status_;                                              \
    }                                                              \
  } while (0)

#define KSTREAM_CONCAT_INNER_(a, b) a##b
#define KSTREAM_CONCAT_(a, b) KSTREAM_CONCAT_INNER_(a, b)
// Declares `declaration` from a Result, or returns its Status from the caller.
#define KSTREAM_ASSIGN_OR_RETURN(declaration, expression) \
  auto KSTREAM_CONCAT_(result_, __LINE__) = (expression); \
  if (!KSTREAM_CONCAT_(result_, __LINE__).ok()) {         \
    return KSTREAM_CONCAT_(result_, __LINE__).status();   \
  }                                                       \
  declaration = *std::move(KSTREAM_CONCAT_(result_, __LINE__))

#endif  // KSTREAM_STATUS_H_
