// A validated JSON text as a table of tokens: what every expression and every printer of JSON
// reads.
//
// simdjson's first stage finds, at several bytes a cycle, where each token starts and that the text
// is UTF-8 without raw control characters in strings. One pass of ours over those positions then
// checks the rest of RFC 8259 (grammar, numbers, escapes, no lone surrogates) and notes for each
// bracket where it ends. Nothing is copied or converted: numbers keep their spelling, and of
// duplicate names the last wins (Find). simdjson's own On-Demand takes the first duplicate and does
// not see errors in what it skips; its DOM rejects long integers: that is why the second pass is
// ours. Tested by tests/unit/record/json_document_test.cc (JSONTestSuite) and
// tests/fuzz/json_fuzz.cc.
#ifndef KSTREAM_RECORD_JSON_DOCUMENT_H_
#define KSTREAM_RECORD_JSON_DOCUMENT_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "kstream/status.h"

namespace kstream::json {

enum class Type : uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

// RFC 8259 lets a parser limit depth; deeper texts are bad records.
inline constexpr int kMaxDepth = 1000;

// Index of a token in its Document: a value, a name, or punctuation between them.
using Node = uint32_t;
inline constexpr Node kNoNode = UINT32_MAX;

// One value with all that is in it. A view: valid until its Reader parses again (see Reader).
class Document {
 public:
  Node root() const { return root_; }
  Type type(Node n) const {
    switch (base_[token_[n]]) {
      case '"':
        return Type::kString;
      case '{':
        return Type::kObject;
      case '[':
        return Type::kArray;
      case 't':
        return Type::kTrue;
      case 'f':
        return Type::kFalse;
      case 'n':
        return Type::kNull;
      default:
        return Type::kNumber;
    }
  }
  // The spelling of a value in the text, white space inside included, none around it.
  std::string_view Raw(Node n) const { return Span(n, After(n) - 1); }
  // Between the quotes of a string, escapes unresolved. Most strings have none.
  std::string_view StringContent(Node n) const {
    const std::string_view quoted = Span(n, n);
    return quoted.substr(1, quoted.size() - 2);
  }
  // The token after the value that starts at n.
  Node After(Node n) const {
    const char c = base_[token_[n]];
    return (c == '{' || c == '[' ? close_[n] : n) + 1;
  }
  // First name of an object / first element of an array; kNoNode when empty.
  Node First(Node container) const {
    return close_[container] == container + 1 ? kNoNode : container + 1;
  }
  // Next name / next element, given the *value* that precedes it; kNoNode at the end.
  Node Next(Node value) const {
    const Node after = After(value);
    return base_[token_[after]] == ',' ? after + 1 : kNoNode;
  }
  // The value that belongs to a name.
  Node ValueOf(Node name) const { return name + 2; }
  // The value of `name` (unescaped bytes) in an object; the last one of duplicates; or kNoNode.
  Node Find(Node object, std::string_view name) const {
    Node found = kNoNode;
    for (Node n = First(object); n != kNoNode; n = Next(ValueOf(n))) {
      if (NameIs(n, name)) found = ValueOf(n);
    }
    return found;
  }
  // Element i of an array, or kNoNode. Linear.
  Node At(Node array, size_t i) const {
    Node n = First(array);
    while (n != kNoNode && i-- > 0) n = Next(n);
    return n;
  }
  // Whether any string of the text may contain a backslash.
  bool may_have_escapes() const { return escapes_; }

 private:
  friend class Reader;
  friend void AppendCompact(const Document& document, Node n, std::string* out);

  // From the start of token `first` to the end of token `last`: what lies before the token after
  // it, less white space.
  std::string_view Span(Node first, Node last) const {
    uint32_t end = token_[last + 1];
    while (IsSpace(base_[end - 1])) --end;
    return {base_ + token_[first], end - token_[first]};
  }
  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  // Without escapes the quote that ends the name can only stand where `name` ends: what lies
  // between it and the colon is white space.
  bool NameIs(Node n, std::string_view name) const {
    if (escapes_) return EscapedNameIs(n, name);
    const char* content = base_ + token_[n] + 1;
    return token_[n + 1] - token_[n] >= name.size() + 2 && content[name.size()] == '"' &&
           std::memcmp(content, name.data(), name.size()) == 0;
  }
  bool EscapedNameIs(Node n, std::string_view name) const;

  const char* base_ = nullptr;       // token positions count from here
  const uint32_t* token_ = nullptr;  // position of each token; after the last, of what follows it
  const uint32_t* close_ = nullptr;  // for '{' and '[': the token of its partner
  Node root_ = 0;
  bool escapes_ = false;
};

// Parses texts, one Document valid at a time. Not thread-safe: one per thread.
class Reader {
 public:
  Reader();
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Says that the texts to come lie within `region`, separated by line ends, so that one first
  // stage serves them all (three times faster on short lines). Only a hint: an error anywhere in
  // the region makes Parse look at each text alone, so one bad line spoils no other. `region` must
  // stay readable and unchanged until the next Prepare; an empty one forgets it. Quickest when
  // texts come in rising order.
  void Prepare(std::string_view region);

  // Parses one whole text (white space around it is accepted). On failure the status is kData and
  // its message says what is wrong and at which byte. The Document lives until the next Parse or
  // Prepare.
  Status Parse(std::string_view text, Document* document);

  // Whether `document`, parsed since the last Prepare, was found by the region's index: then it
  // lives until the next Prepare, whatever is parsed in between.
  bool Lasts(const Document& document) const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

// What Record::cache points to: the value parsed once for all nodes that read it.
struct ValueCache {
  Reader* reader = nullptr;
  Document document;
  bool parsed = false;
  bool one_line =
      false;  // the value is known to be valid JSON without line ends: print it as it is

  // For another value.
  void Reset() { parsed = one_line = false; }
  // For the same value after others were parsed: forgets a document that may have gone.
  void Freshen() {
    if (parsed && !reader->Lasts(document)) parsed = false;
  }
};

// --- text helpers, shared by all that read or print JSON ---

// Resolves the escapes of StringContent() and appends the UTF-8 text to *out.
void Unescape(std::string_view content, std::string* out);
// Appends `text` (valid UTF-8) as a JSON string with quotes, escaping only what RFC 8259 demands.
void AppendQuoted(std::string_view text, std::string* out);
// Appends a validated value without the white space between its tokens; spellings stay.
void AppendCompact(const Document& document, Node n, std::string* out);
// Whether `text` is UTF-8 without surrogates.
bool IsUtf8(std::string_view text);

}  // namespace kstream::json

#endif  // KSTREAM_RECORD_JSON_DOCUMENT_H_
