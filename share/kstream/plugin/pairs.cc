// pairs: a plugin with one processor, "pairs", which writes each value together with the one before
// it: a, b, c become [a,b] and [b,c]. Its option "every": N leaves out all but each Nth pair.
#include <kstream/plugin.h>
#include <kstream/processor.h>

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace {

using kstream::ProcessorContext;
using kstream::Record;
using kstream::Result;
using kstream::Status;

class Pairs : public kstream::Processor {
 public:
  explicit Pairs(int64_t every) : every_(every) {}

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return Status::Ok();
  }

  Status Process(const Record& record) override {
    if (!record.value) return Status::Ok();
    const std::optional<std::string> before = std::exchange(before_, std::string(*record.value));
    if (!before || ++pairs_ % every_ != 0) return Status::Ok();
    const std::string pair = "[" + *before + "," + *before_ + "]";
    Record made = record;
    made.value = pair;
    made.cache = nullptr;
    return context_->Forward(made);
  }

 private:
  const int64_t every_;
  ProcessorContext* context_ = nullptr;
  std::optional<std::string> before_;
  int64_t pairs_ = 0;
};

// {"every": N} or {}.
Result<int64_t> ParseEvery(std::string_view options) {
  constexpr std::string_view kName = "\"every\"";
  const size_t name = options.find(kName);
  if (name == options.npos) {
    if (options.find('"') == options.npos) return 1;
    return Status::Usage("the only option of pairs is \"every\"");
  }
  const size_t digit = options.find_first_not_of(": ", name + kName.size());
  int64_t every = 0;
  if (digit != options.npos) {
    std::from_chars(options.data() + digit, options.data() + options.size(), every);
  }
  if (every < 1) return Status::Usage("\"every\" takes a whole number of at least 1");
  return every;
}

}  // namespace

KSTREAM_PLUGIN(plugins) {
  return plugins.AddProcessor("pairs",
                              [](std::string_view options) -> Result<kstream::ProcessorSupplier> {
                                KSTREAM_ASSIGN_OR_RETURN(const int64_t every, ParseEvery(options));
                                return kstream::ProcessorSupplier(
                                    [every] { return std::make_unique<Pairs>(every); }, "pairs");
                              });
}
