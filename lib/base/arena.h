// Arena: memory for the bytes that belong to one batch of records, given back all at once.
//
// Copies never move, so views stay valid until Reset. Not thread-safe. Tested through its users.
#ifndef KSTREAM_BASE_ARENA_H_
#define KSTREAM_BASE_ARENA_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace kstream {

class Arena {
 public:
  std::string_view Copy(std::string_view bytes) {
    char* to = Allocate(bytes.size());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return {to, bytes.size()};
  }

  char* Allocate(size_t size) {
    if (size > left_) Grow(size);
    char* result = next_;
    next_ += size;
    left_ -= size;
    return result;
  }

  // Invalidates every view. Keeps the first block, so that a steady stream allocates nothing.
  void Reset() {
    if (blocks_.empty()) return;
    blocks_.resize(1);
    next_ = blocks_[0].get();
    left_ = first_size_;
  }

 private:
  static constexpr size_t kBlock = 64 << 10;

  void Grow(size_t size) {
    const size_t block = size > kBlock ? size : kBlock;
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
    if (blocks_.size() == 1) first_size_ = block;
    next_ = blocks_.back().get();
    left_ = block;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t first_size_ = 0;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace kstream

#endif  // KSTREAM_BASE_ARENA_H_
