// Thrown: an exception of the user's code as a status. Rooms know no exceptions, so code that a
// user wrote is called in a try block whose catch (...) asks here; that costs nothing while nothing
// is thrown. Tested by tests/unit/task/task_test.cc.
#ifndef KSTREAM_TASK_THROWN_H_
#define KSTREAM_TASK_THROWN_H_

#include <string_view>

#include "kstream/status.h"

namespace kstream::task {

// Only in a catch block: kData "<who> threw: ..." for the exception being handled.
Status Thrown(std::string_view who);

}  // namespace kstream::task

#endif  // KSTREAM_TASK_THROWN_H_
