// An array that is not filled when it is made.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace treewright {

/// For what is written before it is read: the system hands out memory page by page as it is first touched,
/// which the threads that fill an array do together, and one that fills it with zeros would do alone.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : elements_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}

    std::size_t size() const { return size_; }
    T* data() { return elements_.get(); }
    const T* data() const { return elements_.get(); }
    T& operator[](std::size_t i) { return elements_[i]; }
    const T& operator[](std::size_t i) const { return elements_[i]; }

  private:
    std::unique_ptr<T[]> elements_;
    std::size_t size_ = 0;
};

}  // namespace treewright
