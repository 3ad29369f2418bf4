// Python's door to numbers by which rows are known again.
#include "data/hashing.hpp"

#include "arrays.hpp"

namespace treewright {

namespace {

nb::object row_hashes(nb::handle columns, std::size_t n_threads) {
    const Table table = read_table(columns);
    std::vector<std::uint64_t> hashes;
    without_gil([&](Interrupt& interrupt) {
        Pool pool(n_threads, interrupt);
        hashes = hash_rows(table.columns, table.n_rows, pool, interrupt);
    });
    return to_numpy(std::move(hashes));
}

}  // namespace

void bind_hashing(nb::module_& module) {
    using namespace nb::literals;
    module.def("row_hashes", &row_hashes, "columns"_a, "n_threads"_a = 1);
}

}  // namespace treewright
