#include "record/custom_serde.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "record/json_document.h"
#include "record/serde.h"

namespace kstream {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const NamedSerde>, std::less<>> serdes;
};

Registry& TheRegistry() {
  static auto* const registry = new Registry;  // outlives threads that run at exit
  return *registry;
}

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsName(std::string_view name) {
  return !name.empty() && IsLetter(name.front()) && std::ranges::all_of(name, [](char c) {
    return IsLetter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// Calls a stranger's code: whatever leaves it is a Status, and nothing is half appended.
Status Guarded(const NamedSerde& named, const std::function<Status(std::string*)>& call,
               std::string* made) {
  const std::string where = fmt::format("serde '{}'", named.name);
  try {
    return call(made).At(where);
  } catch (const std::exception& e) {
    return Status::Data(fmt::format("it threw: {}", e.what())).At(where);
  } catch (...) {
    return Status::Data("it threw what is no std::exception").At(where);
  }
}

}  // namespace

CustomSerde::~CustomSerde() = default;

Status NamedSerde::ToJson(std::string_view bytes, std::string* json) const {
  std::string made;
  KSTREAM_RETURN_IF_ERROR(Guarded(
      *this, [&](std::string* out) { return serde->ToJson(bytes, out); }, &made));
  thread_local json::Reader reader;
  json::Document document;
  if (Status status = reader.Parse(made, &document); !status.ok()) {
    return status.At(fmt::format("serde '{}' gave no JSON", name));
  }
  json::AppendCompact(document, document.root(), json);
  return Status::Ok();
}

Status NamedSerde::FromJson(std::string_view json, std::string* bytes) const {
  std::string made;
  KSTREAM_RETURN_IF_ERROR(Guarded(
      *this, [&](std::string* out) { return serde->FromJson(json, out); }, &made));
  *bytes += made;
  return Status::Ok();
}

std::shared_ptr<const NamedSerde> FindCustomSerde(std::string_view name) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.serdes.find(name);
  return found == registry.serdes.end() ? nullptr : found->second;
}

Status RegisterSerde(std::string name, std::shared_ptr<const CustomSerde> serde) {
  if (serde == nullptr) return Status::Usage(fmt::format("serde '{}' is a null pointer", name));
  if (!IsName(name)) {
    return Status::Usage(fmt::format(
        "'{}' cannot name a serde: give letters, digits, - and _, with a letter first", name));
  }
  // All words of pack letters are kept, also those that are no serde today, such as "ss".
  if (Serde::IsBuiltIn(name) || name.find_first_not_of("bBhHiIqQcs") == std::string::npos) {
    return Status::Usage(fmt::format("serde '{}' is built in: give yours another name", name));
  }
  auto named = std::make_shared<const NamedSerde>(NamedSerde{name, std::move(serde)});
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  if (!registry.serdes.try_emplace(name, std::move(named)).second) {
    return Status::Usage(fmt::format("serde '{}' is registered already", name));
  }
  return Status::Ok();
}

}  // namespace kstream
