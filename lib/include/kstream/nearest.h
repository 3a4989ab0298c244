// NearestName: for messages about a name that is mistyped.
#ifndef KSTREAM_NEAREST_H_
#define KSTREAM_NEAREST_H_

#include <string_view>
#include <vector>

#include "kstream/export.h"

namespace kstream {

// The one of `names` that `name` was probably meant to be: at most a third of the letters, and at
// least one, may be inserted, deleted, replaced or swapped with their neighbour. The first of
// equally near ones; empty when none is near.
KSTREAM_EXPORT std::string_view NearestName(std::string_view name,
                                            const std::vector<std::string_view>& names);

}  // namespace kstream

#endif  // KSTREAM_NEAREST_H_
