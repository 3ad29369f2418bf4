// Arrays across the border: numpy arrays in as views, vectors out with an owner.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/columns.hpp"
#include "support/threads.hpp"

namespace treewright {

namespace nb = nanobind;

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

inline std::span<const std::uint8_t> bytes(const Vector<bool>& array) {
    return {reinterpret_cast<const std::uint8_t*>(array.data()), array.shape(0)};
}

/// Hands a vector over to numpy without a copy.
template <class T, class Allocator>
nb::object to_numpy(std::vector<T, Allocator>&& values, std::initializer_list<std::size_t> shape) {
    using Values = std::vector<T, Allocator>;
    auto owned = std::make_unique<Values>(std::move(values));
    T* data = owned->data();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<Values*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

template <class T>
nb::object to_numpy(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return to_numpy(std::move(values), {n});
}

/// Views of a table's columns, with the arrays that own the memory.
struct Table {
    std::vector<AnyArray> owners;
    std::vector<Column> columns;
    std::size_t n_rows = 0;
};

/// A matrix of float64 or float32, or a sequence of vectors: float64 or float32 numbers, int32 codes.
Table read_table(nb::handle columns);

/// The same with the number of categories of each column, 0 for numbers.
Table read_table(nb::handle columns, nb::handle category_counts);

/// Checks that all codes are below the numbers of categories.
void check_codes(const std::vector<Column>& columns, std::size_t n_rows);

/// The whole numbers of a Python list. nanobind's own reader of lists ends the process when memory runs out.
std::vector<std::int32_t> read_counts(nb::handle list);

/// Tells Python how far the work is, where it wants to know, and asks it for signals; the caller must not
/// hold the GIL. True where a signal or the listener wants to stop, with Python's exception set.
bool must_stop(const Interrupt& interrupt, nb::handle progress);

/// Runs native work without the GIL; Ctrl-C comes back as KeyboardInterrupt. `progress(share)` is called
/// every few milliseconds, unless it is None.
template <class Work>
void without_gil(Work&& work, nb::handle progress = nb::none()) {
    bool interrupted = false;
    {
        nb::gil_scoped_release release;
        Interrupt interrupt([&] { return must_stop(interrupt, progress); });
        try {
            work(interrupt);
        } catch (const Interrupted&) {
            interrupted = true;
        }
    }
    if (interrupted) throw nb::python_error();
}

}  // namespace treewright
