// A library to load before all others: it counts the allocations of C++ and can make one of them fail, or all
// from one on.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> made{0};
std::atomic<long> first_to_fail{-1};  // -1: none
std::atomic<long> last_to_fail{-1};

void* allocate(std::size_t size, std::size_t alignment) noexcept {
    const long number = made.fetch_add(1);
    const long first = first_to_fail.load();
    if (first >= 0 && number >= first && number <= last_to_fail.load()) return nullptr;
    if (alignment <= alignof(std::max_align_t)) return std::malloc(size ? size : 1);
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
    void* const memory = allocate(size, alignment);
    if (!memory) throw std::bad_alloc();
    return memory;
}

}  // namespace

/// Counts from zero again; allocations number `first` to `last` will fail (-1: none).
extern "C" void fail_allocations(long first, long last) {
    first_to_fail = -1;
    made = 0;
    last_to_fail = last;
    first_to_fail = first;
}
/// How many there were since.
extern "C" long count_allocations() { return made; }

void* operator new(std::size_t size) { return allocate_or_throw(size, 0); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, 0); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 0); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
