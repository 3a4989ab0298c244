// Plugins: a library is opened, asked what it was built for, and only then called. It is never
// closed: what it made may live as long as the process. Tested by tests/checks/embedding, which
// builds the project of share/kstream/plugin.
#include <dlfcn.h>
#include <fmt/format.h>

#include "kstream/plugin.h"

namespace kstream {
namespace {

template <typename Map>
std::vector<std::string_view> KeysOf(const Map& map) {
  std::vector<std::string_view> keys;
  for (const auto& [name, value] : map) keys.push_back(name);
  return keys;
}

template <typename Map, typename Value>
Status AddOnce(std::string_view what, std::string name, Value value, Map* map) {
  if (name.empty()) return Status::Usage(fmt::format("a plugin's {} has no name", what));
  if (!value) return Status::Usage(fmt::format("a plugin's {} '{}' is empty", what, name));
  const auto [at, fresh] = map->emplace(std::move(name), std::move(value));
  if (fresh) return Status::Ok();
  return Status::Usage(fmt::format("there is a {} '{}' already", what, at->first));
}

template <typename Map>
auto Find(const Map& map, std::string_view name) -> const typename Map::mapped_type* {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

using LoadFunction = void (*)(Plugins* plugins, Status* status);

}  // namespace

Status Plugins::Load(const std::string& path) {
  // Without a slash the loader would look elsewhere than where the user points.
  const std::string file = path.find('/') == path.npos ? "./" + path : path;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return Status::Usage(fmt::format("{}: {}", path, why == nullptr ? "cannot be loaded" : why));
  }
  const auto* const built_for =
      static_cast<const char*>(dlsym(library, "kstream_plugin_built_for"));
  const auto load = reinterpret_cast<LoadFunction>(dlsym(library, "kstream_plugin_load"));
  if (built_for == nullptr || load == nullptr) {
    return Status::Usage(fmt::format(
        "{} is no plugin of kstream: KSTREAM_PLUGIN makes one (kstream/plugin.h)", path));
  }
  if (std::string_view(built_for) != KSTREAM_PLUGIN_BUILT_FOR) {
    return Status::Expression(
        fmt::format("{} is built for another kstream ({}; this one is {}): build it again", path,
                    built_for, KSTREAM_PLUGIN_BUILT_FOR));
  }
  Status status;
  load(this, &status);
  return status.At(path);
}

Status Plugins::AddProcessor(std::string name, ProcessorFactory factory) {
  return AddOnce("processor", std::move(name), std::move(factory), &processors_);
}
Status Plugins::AddExtractor(std::string name, TimestampExtractor extractor) {
  return AddOnce("extractor", std::move(name), std::move(extractor), &extractors_);
}
Status Plugins::AddSerde(std::string name, std::shared_ptr<const CustomSerde> serde) {
  return RegisterSerde(std::move(name), std::move(serde));
}

const ProcessorFactory* Plugins::processor(std::string_view name) const {
  return Find(processors_, name);
}
const TimestampExtractor* Plugins::extractor(std::string_view name) const {
  return Find(extractors_, name);
}
std::vector<std::string_view> Plugins::processors() const { return KeysOf(processors_); }
std::vector<std::string_view> Plugins::extractors() const { return KeysOf(extractors_); }

}  // namespace kstream
