// Sums the lines of its input exactly. A line is a word and numbers: "sum" of all of them, "merge" of the
// sums of every seventh one, "products" of pairs; or "quotient" of the sums of the first and the second half.
// The answer is a line of two numbers: the rounded one, and what rounding took from it.
#include "support/exact_sum.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using treewright::ExactSum;

namespace {

std::vector<double> read_numbers(std::istringstream& line) {
    std::vector<double> numbers;
    for (std::string word; line >> word;) numbers.push_back(std::strtod(word.c_str(), nullptr));
    return numbers;
}

ExactSum sum_of(const double* begin, const double* end) {
    ExactSum sum;
    for (; begin != end; ++begin) sum.add(*begin);
    return sum;
}

ExactSum merged(const std::vector<double>& numbers) {
    ExactSum sum, part;
    for (std::size_t first = 0; first < 7; ++first) {
        part.clear();
        for (std::size_t i = first; i < numbers.size(); i += 7) part.add(numbers[i]);
        sum.add(part);
    }
    return sum;
}

ExactSum of_products(const std::vector<double>& numbers) {
    ExactSum sum;
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) sum.add_product(numbers[i], numbers[i + 1]);
    return sum;
}

treewright::Rounded answer(const std::string& what, const std::vector<double>& numbers) {
    const double *const begin = numbers.data(), *const end = begin + numbers.size();
    if (what == "sum") return sum_of(begin, end).rounded_with_rest();
    if (what == "merge") return merged(numbers).rounded_with_rest();
    if (what == "products") return of_products(numbers).rounded_with_rest();
    const double* const middle = begin + numbers.size() / 2;
    return treewright::quotient(sum_of(begin, middle).rounded_with_rest(),
                                sum_of(middle, end).rounded_with_rest());
}

}  // namespace

int main() {
    for (std::string text; std::getline(std::cin, text);) {
        std::istringstream line(text);
        std::string what;
        line >> what;
        const auto [value, rest] = answer(what, read_numbers(line));
        std::printf("%a %a\n", value, rest);
    }
}
