#include <vector>
namespace kstream::expr {
enum class Skip : uint8_t { kNewer, kDiffers, kRefused, kExact, kInput };
struct SkippedCase {
  const char* program;
  const char* input;
  Skip reason;
};
inline const std::vector<SkippedCase> kSkippedCases = {};
}  // namespace kstream::expr
