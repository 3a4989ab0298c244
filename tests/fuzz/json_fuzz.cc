// Lines of anything: parsed in a region and alone they must mean the same; what is accepted must
// survive being walked, and print as JSON that prints as itself.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "record/json_document.h"

namespace {

using kstream::json::Document;
using kstream::json::kNoNode;
using kstream::json::Node;
using kstream::json::Reader;
using kstream::json::Type;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::string Unescaped(std::string_view content) {
  std::string text;
  kstream::json::Unescape(content, &text);
  Require(kstream::json::IsUtf8(text));
  return text;
}

// Reads all that can be read of a value.
void Visit(const Document& document, Node n) {
  Require(!document.Raw(n).empty());
  const Type type = document.type(n);
  if (type == Type::kString) Unescaped(document.StringContent(n));
  if (type != Type::kArray && type != Type::kObject) return;
  for (Node child = document.First(n); child != kNoNode;) {
    Node value = child;
    if (type == Type::kObject) {
      value = document.ValueOf(child);
      Require(document.Find(n, Unescaped(document.StringContent(child))) != kNoNode);
    }
    Visit(document, value);
    child = document.Next(value);
  }
}

std::string Compact(const Document& document) {
  std::string out;
  kstream::json::AppendCompact(document, document.root(), &out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view region(reinterpret_cast<const char*>(data), size);
  Reader shared;
  Reader alone;
  shared.Prepare(region);
  for (size_t begin = 0; begin < size;) {
    const size_t end = std::min(region.find('\n', begin), size);
    const std::string_view line = region.substr(begin, end - begin);
    begin = end + 1;

    Document in_region, by_itself;
    const kstream::Status status = shared.Parse(line, &in_region);
    const kstream::Status expected = alone.Parse(line, &by_itself);
    Require(status.message() == expected.message());
    if (!status.ok()) continue;
    const std::string compact = Compact(in_region);
    Require(compact == Compact(by_itself));
    Visit(in_region, in_region.root());
    Require(alone.Parse(compact, &by_itself).ok());
    Require(compact == Compact(by_itself));
  }
  return 0;
}
