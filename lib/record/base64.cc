#include "record/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace kstream {
namespace {

// EVP counts in int: longer texts go through it in pieces of whole groups.
constexpr size_t kPieceBytes = 3u << 20;
constexpr size_t kPieceText = 4u << 20;

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> MakeValues() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int8_t>(i);
  }
  return values;
}
constexpr std::array<int8_t, 256> kValues = MakeValues();

int Value(char c) { return kValues[static_cast<unsigned char>(c)]; }

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

const unsigned char* Unsigned(const char* p) { return reinterpret_cast<const unsigned char*>(p); }

}  // namespace

void AppendBase64(std::string_view bytes, std::string* out) {
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, kPieceBytes);
    size_t at = out->size();
    out->resize(at + (piece.size() + 2) / 3 * 4 + 1);  // EVP ends it with a NUL
    int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out->data() + at),
                                 Unsigned(piece.data()), static_cast<int>(piece.size()));
    out->resize(at + static_cast<size_t>(length));
    bytes.remove_prefix(piece.size());
  }
}

bool DecodeBase64(std::string_view text, std::string* out) {
  if (text.size() % 4 != 0) return false;
  if (text.empty()) return true;
  size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  // EVP trims white space and takes padding anywhere and stray bits: all that is refused here.
  std::string_view digits = text.substr(0, text.size() - padding);
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return Value(c) >= 0; })) {
    return false;
  }
  int unused = padding == 2 ? 0x0F : padding == 1 ? 0x03 : 0;
  if ((Value(digits.back()) & unused) != 0) return false;

  const size_t start = out->size();
  while (!text.empty()) {
    std::string_view piece = text.substr(0, kPieceText);
    size_t at = out->size();
    out->resize(at + piece.size() / 4 * 3);
    if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out->data() + at), Unsigned(piece.data()),
                        static_cast<int>(piece.size())) < 0) {
      out->resize(start);
      return false;
    }
    text.remove_prefix(piece.size());
  }
  out->resize(out->size() - padding);
  return true;
}

void AppendHex(std::string_view bytes, std::string* out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out->reserve(out->size() + bytes.size() * 2);
  for (char byte : bytes) {
    auto b = static_cast<unsigned char>(byte);
    out->push_back(kDigits[b >> 4]);
    out->push_back(kDigits[b & 0x0F]);
  }
}

bool DecodeHex(std::string_view text, std::string* out) {
  if (text.size() % 2 != 0) return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return HexValue(c) >= 0; })) return false;
  out->reserve(out->size() + text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    out->push_back(static_cast<char>(HexValue(text[i]) << 4 | HexValue(text[i + 1])));
  }
  return true;
}

}  // namespace kstream
