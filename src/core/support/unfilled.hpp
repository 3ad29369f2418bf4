// Vectors whose memory is left as it comes, for what is written in full anyway: the threads that write it
// then also bring in its pages, which takes as long as filling it (40 MB of bins: 15 ms).
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace treewright {

template <class T>
struct UnfilledAllocator : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = UnfilledAllocator<U>;
    };

    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Arguments>
    void construct(U* place, Arguments&&... arguments) {
        ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    }
};

/// resize() leaves new numbers without a value.
template <class T>
using UnfilledVector = std::vector<T, UnfilledAllocator<T>>;

}  // namespace treewright
