// Plugins: processors, timestamps and serdes of one's own, for topologies that files describe, in a
// shared library that kstream-run loads with --plugin. One of them, in whole:
//
//   #include <kstream/plugin.h>
//
//   class Upper : public kstream::Processor { ... };
//
//   KSTREAM_PLUGIN(plugins) {
//     return plugins.AddProcessor("upper", [](std::string_view options) {
//       return kstream::ProcessorSupplier([] { return std::make_unique<Upper>(); }, "upper");
//     });
//   }
//
// A plugin is built against the headers of the kstream that loads it: the macro writes down which,
// and another is refused before any of its code runs. share/kstream/plugin is a project that builds
// one.
#ifndef KSTREAM_PLUGIN_H_
#define KSTREAM_PLUGIN_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/export.h"
#include "kstream/processor.h"
#include "kstream/serdes.h"
#include "kstream/status.h"
#include "kstream/topology.h"

namespace kstream {

// Makes what a "process" node names. `options`: its "options" as JSON text, "{}" where there are
// none. A failure, by its message alone, is shown with the node's place in the file.
using ProcessorFactory = std::function<Result<ProcessorSupplier>(std::string_view options)>;

// What topology files may name. Copies share the libraries, which stay loaded as long as the
// process runs. Threads: one at a time.
class KSTREAM_EXPORT Plugins {
 public:
  // Loads a library and lets it add what it has. kUsage: it cannot be loaded, or is no plugin;
  // kExpression: it was built for another kstream; else what it fails with.
  Status Load(const std::string& path);

  // kUsage, of both: the name is taken, or empty.
  Status AddProcessor(std::string name, ProcessorFactory factory);
  // For the field "extractor" of a source.
  Status AddExtractor(std::string name, TimestampExtractor extractor);
  // As RegisterSerde.
  Status AddSerde(std::string name, std::shared_ptr<const CustomSerde> serde);

  // Null: there is none of that name.
  const ProcessorFactory* processor(std::string_view name) const;
  const TimestampExtractor* extractor(std::string_view name) const;
  std::vector<std::string_view> processors() const;
  std::vector<std::string_view> extractors() const;

 private:
  std::map<std::string, ProcessorFactory, std::less<>> processors_;
  std::map<std::string, TimestampExtractor, std::less<>> extractors_;
};

// What a plugin was built for: what must be equal for it to be loaded. It changes with every
// version whose headers a plugin would see otherwise.
#define KSTREAM_PLUGIN_INTERFACE 1
#define KSTREAM_PLUGIN_TEXT_INNER_(x) #x
#define KSTREAM_PLUGIN_TEXT_(x) KSTREAM_PLUGIN_TEXT_INNER_(x)
#define KSTREAM_PLUGIN_BUILT_FOR                                                             \
  "interface " KSTREAM_PLUGIN_TEXT_(KSTREAM_PLUGIN_INTERFACE) ", C++ " KSTREAM_PLUGIN_TEXT_( \
      __GXX_ABI_VERSION) ", strings " KSTREAM_PLUGIN_TEXT_(_GLIBCXX_USE_CXX11_ABI)

}  // namespace kstream

// The one function of a plugin: { ... } follows, with a kstream::Plugins& by the name given, and
// returns a Status.
#define KSTREAM_PLUGIN(plugins)                                                               \
  static kstream::Status KstreamPlugin(kstream::Plugins&);                                    \
  extern "C" KSTREAM_EXPORT const char kstream_plugin_built_for[] = KSTREAM_PLUGIN_BUILT_FOR; \
  extern "C" KSTREAM_EXPORT void kstream_plugin_load(kstream::Plugins* all,                   \
                                                     kstream::Status* status) {               \
    *status = KstreamPlugin(*all);                                                            \
  }                                                                                           \
  static kstream::Status KstreamPlugin(kstream::Plugins& plugins)

#endif  // KSTREAM_PLUGIN_H_
