// What all rows of a table must agree on before they are searched, wherever they are.
//
// Parts of the rows tell facts, which join in any order; agree() makes the same agreement of them as of the
// facts of all rows at once. Few things do not follow from facts that join; agree() then asks a question
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "data/columns.hpp"
#include "data/problem.hpp"
#include "support/exact_sum.hpp"

namespace treewright {

struct ColumnFacts {
    Column::Type type = Column::Type::float64;
    std::int32_t n_categories = 0;
    bool has_bins = false;

    bool is_category() const { return type == Column::Type::code; }
    bool operator==(const ColumnFacts&) const = default;
};

/// What a criterion needs of the numbers of a single output: a grid, about zero or about their mean; and one
/// for their squares, which bound the bins of histograms.
struct NumberGrids {
    bool are_made = false, are_centred = false, bound_squares = false;

    bool operator==(const NumberGrids&) const = default;
};

/// Asks for the largest of a function of a row; answers of parts of the rows join by taking the largest.
struct Question {
    enum class Kind : std::uint8_t { distance, square };

    Kind kind;
    Grids grids;  // a distance is measured from the centre of the numbers, a square on both grids
};
double answer(const Problem& problem, const Question& question);

/// Facts about some rows of a table.
struct Facts {
    std::int64_t n_rows = 0, n_counted = 0;  // all rows; those of positive weight
    std::size_t n_outputs = 1;
    std::vector<std::int32_t> n_classes;  // per output; empty for numbers
    bool is_weighted = false;
    std::vector<ColumnFacts> columns;    // none where the table has no bins: searches of lists need no facts
    std::vector<std::uint8_t> is_mixed;  // 256 per column: whether a bin holds several values; or none
    NumberGrids number_grids;
    std::int64_t word_rows = any_number;  // the same of all parts
    double heaviest = 0;                  // the largest weight
    ExactSum weight, sum;                 // of the weights; of the numbers times their weights
    double least = std::numeric_limits<double>::infinity();  // of the numbers
    double largest = -std::numeric_limits<double>::infinity();
    std::vector<double> answers;  // to the questions so far

    void join(const Facts& other);

  private:
    void join_columns(const Facts& other);
};
Facts facts_of(const Problem& problem, const NumberGrids& number_grids, std::int64_t word_rows = any_number);

struct Agreement {
    std::int64_t n_rows = 0, n_counted = 0;
    std::size_t n_outputs = 1;
    std::vector<std::int32_t> n_classes{};
    bool is_weighted = false;
    std::vector<ColumnFacts> columns{};
    std::vector<std::uint8_t> is_mixed{};
    /// Of how many rows at most the sums on the grids fit one word.
    std::int64_t word_rows = any_number;
    Grids grids{};
    /// What has to be known first; the agreement does not hold yet.
    std::optional<Question> question{};

    bool has_bins() const { return !is_mixed.empty(); }
    bool are_classes() const { return !n_classes.empty(); }
    /// Whether bins of a column hold several values, so that they can hide a cut.
    const std::uint8_t* is_mixed_of(std::int32_t column) const {
        return is_mixed.data() + static_cast<std::size_t>(column) * 256;
    }
    /// Whether sums of so many rows need two words, if they are searched by histograms.
    bool need_two_words(std::int64_t n) const { return (is_weighted || !are_classes()) && n > word_rows; }
    /// How many of so many rows an excerpt may have, of a table that has bins.
    std::size_t most_excerpted(std::size_t n) const;
};
Agreement agree(const Facts& facts);

/// That of rows which are all in one place.
Agreement agree_on(const Problem& problem, const NumberGrids& number_grids,
                   std::int64_t word_rows = any_number);

}  // namespace treewright
