// Arrays across the border.
#include "arrays.hpp"

namespace treewright {

namespace {

Column::Type type_of(const AnyArray& array) {
    if (array.dtype() == nb::dtype<double>()) return Column::Type::float64;
    if (array.dtype() == nb::dtype<float>()) return Column::Type::float32;
    if (array.dtype() == nb::dtype<std::int32_t>()) return Column::Type::code;
    throw std::invalid_argument("columns must be float64, float32 or int32 arrays");
}

}  // namespace

Table read_table(nb::handle columns) {
    Table table;
    if (nb::ndarray_check(columns)) {
        auto matrix = nb::cast<AnyArray>(columns);
        if (matrix.ndim() != 2) throw std::invalid_argument("a table of numbers has two dimensions");
        const auto type = type_of(matrix);
        const auto step = static_cast<std::ptrdiff_t>(item_size(type));
        table.n_rows = matrix.shape(0);
        table.columns.reserve(matrix.shape(1));
        for (std::size_t i = 0; i < matrix.shape(1); ++i) {
            Column column;
            column.data = static_cast<const std::byte*>(matrix.data()) +
                          static_cast<std::ptrdiff_t>(i) * matrix.stride(1) * step;
            column.stride = matrix.stride(0) * step;
            column.type = type;
            table.columns.push_back(column);
        }
        table.owners.push_back(std::move(matrix));
        return table;
    }
    for (nb::handle item : columns) {
        auto vector = nb::cast<AnyArray>(item);
        if (vector.ndim() != 1) throw std::invalid_argument("a column has one dimension");
        if (!table.columns.empty() && vector.shape(0) != table.n_rows)
            throw std::invalid_argument("all columns must have the same number of rows");
        table.n_rows = vector.shape(0);
        Column column;
        column.data = static_cast<const std::byte*>(vector.data());
        column.type = type_of(vector);
        column.stride = vector.stride(0) * static_cast<std::ptrdiff_t>(item_size(column.type));
        table.columns.push_back(column);
        table.owners.push_back(std::move(vector));
    }
    return table;
}

Table read_table(nb::handle columns, nb::handle category_counts) {
    Table table = read_table(columns);
    const auto n_categories = read_counts(category_counts);
    if (n_categories.size() != table.columns.size())
        throw std::invalid_argument("n_categories needs one number per column");
    for (std::size_t i = 0; i < n_categories.size(); ++i) table.columns[i].n_categories = n_categories[i];
    return table;
}

void check_codes(const std::vector<Column>& columns, std::size_t n_rows) {
    for (const auto& column : columns)
        for (std::size_t row = 0; column.is_category() && row < n_rows; ++row)
            if (column.code(row) >= column.n_categories)
                throw std::invalid_argument("a code is not below the number of categories");
}

std::vector<std::int32_t> read_counts(nb::handle list) {
    std::vector<std::int32_t> counts;
    for (nb::handle item : list) counts.push_back(nb::cast<std::int32_t>(item));
    return counts;
}

bool must_stop(const Interrupt& interrupt, nb::handle progress) {
    nb::gil_scoped_acquire acquire;
    if (!progress.is_none()) {
        try {
            progress(interrupt.share_done());
        } catch (nb::python_error& error) {
            error.restore();
            return true;
        }
    }
    return PyErr_CheckSignals() != 0;
}

}  // namespace treewright
