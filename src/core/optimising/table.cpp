// Numbers on grids.
#include "optimising/table.hpp"

#include <cmath>

#include "support/exact_sum.hpp"

namespace treewright::optimising {

double place_numbers(Table& table, std::span<const double> numbers) {
    ExactSum all, weighted;
    double weight = 0;
    for (std::size_t row = 0; row < table.n_rows; ++row) {
        const auto own = static_cast<double>(table.weight(row));
        weight += own;
        weighted.add(own * numbers[row]);
    }
    const double centre = weighted.rounded() / weight;
    double largest = 0;
    for (std::size_t row = 0; row < table.n_rows; ++row) {
        const double distance = numbers[row] - centre;
        largest = std::max(largest, std::abs(distance));
        all.add(static_cast<double>(table.weight(row)) * distance * distance);
    }
    table.numbers.resize(table.n_rows);
    const double squares = all.rounded();
    const int bits = 61 - std::max(0, std::ilogb(weight) + 1);
    const double unit = largest > 0 ? std::ldexp(1.0, std::ilogb(largest) + 1 - bits) : 1.0;
    // all squares together take 52 bits
    const double loss_unit = squares > 0 ? std::ldexp(1.0, std::ilogb(squares) + 1 - 52) : 1.0;
    table.square_scale = unit * unit / loss_unit;
    for (std::size_t row = 0; row < table.n_rows; ++row) {
        const Loss own = table.weight(row);
        const auto place = std::llrint((numbers[row] - centre) / unit);
        const auto size = static_cast<double>(place);
        table.numbers[row] = {own, own * place,
                              std::llrint(static_cast<double>(own) * size * size * table.square_scale)};
    }
    return loss_unit;
}

}  // namespace treewright::optimising
