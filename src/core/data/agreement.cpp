// What all rows of a table must agree on before they are searched, wherever they are.
#include "data/agreement.hpp"

#include <algorithm>
#include <cmath>

#include "data/grids.hpp"

namespace treewright {

namespace {

/// An excerpt has at most so many rows and bytes, to stay in the caches of one core.
constexpr std::size_t max_excerpt_rows = 65536;
constexpr std::size_t max_excerpt_bytes = std::size_t{16} << 20;

/// Makes the grids of an agreement; false where a question has to be answered first.
class GridMaker {
  public:
    GridMaker(const Facts& facts, Agreement& agreement)
        : facts_(facts), agreement_(agreement), grids_(agreement.grids) {}

    void make() {
        const auto n = static_cast<double>(std::min(facts_.n_counted, facts_.word_rows));
        grids_.weight = facts_.is_weighted ? Grid::covering(facts_.heaviest, n) : Grid{};
        if (!facts_.number_grids.are_made || facts_.n_counted == 0) return;
        double centre = 0;
        if (facts_.number_grids.are_centred) {
            const double mean = mean_of(facts_.sum, facts_.weight);
            const auto farthest = largest_about(mean);
            if (!farthest) return;
            centre = centre_near(mean, *farthest / facts_.heaviest);
        }
        const auto largest = largest_about(centre);
        if (!largest) return;
        grids_.number = Grid::covering(*largest, n, centre);
        if (!facts_.number_grids.bound_squares) return;
        if (const auto square = largest_square()) grids_.square_unit = Grid::covering(*square, n).unit;
    }

  private:
    std::optional<double> largest_about(double centre) {
        if (!facts_.is_weighted)
            return std::max(std::abs(facts_.least - centre), std::abs(facts_.largest - centre));
        return answer_to({Question::Kind::distance, {.number = {centre, 1.0}}});
    }
    std::optional<double> largest_square() {
        if (facts_.is_weighted) return answer_to({Question::Kind::square, grids_});
        return std::max(square_of(grids_.number.place(facts_.least), 1),
                        square_of(grids_.number.place(facts_.largest), 1));
    }
    std::optional<double> answer_to(const Question& question) {
        if (n_asked_ < facts_.answers.size()) return facts_.answers[n_asked_++];
        agreement_.question = question;
        return std::nullopt;
    }

    const Facts& facts_;
    Agreement& agreement_;
    Grids& grids_;
    std::size_t n_asked_ = 0;
};

}  // namespace

double answer(const Problem& problem, const Question& question) {
    const auto& [weights, numbers, unit] = question.grids;
    if (question.kind == Question::Kind::distance)
        return largest_about(problem, problem.rows, 0, numbers.centre);
    double largest = 0;
    for (const Row row : problem.rows)
        largest = std::max(largest,
                           square_of(number_on(numbers, problem, row, 0), weight_on(weights, problem, row)));
    return largest;
}

void Facts::join(const Facts& other) {
    join_columns(other);
    n_rows += other.n_rows;
    n_counted += other.n_counted;
    is_weighted = is_weighted || other.is_weighted;  // without rows, nobody knows
    heaviest = std::max(heaviest, other.heaviest);
    weight.add(other.weight);
    sum.add(other.sum);
    least = std::min(least, other.least);
    largest = std::max(largest, other.largest);
    for (std::size_t i = 0; i < answers.size(); ++i) answers[i] = std::max(answers[i], other.answers[i]);
}

/// Where there are no rows, columns tell nothing, not even whether they have bins.
void Facts::join_columns(const Facts& other) {
    if (other.n_rows == 0) return;
    if (n_rows == 0) {
        columns = other.columns;
        is_mixed = other.is_mixed;
        return;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        columns[i].n_categories = std::max(columns[i].n_categories, other.columns[i].n_categories);
        columns[i].has_bins = columns[i].has_bins && other.columns[i].has_bins;
        if (other.columns[i].type == Column::Type::float64) columns[i].type = Column::Type::float64;
    }
    if (other.is_mixed.empty()) is_mixed.clear();
    for (std::size_t i = 0; i < is_mixed.size(); ++i) is_mixed[i] |= other.is_mixed[i];
}

namespace {

void add_columns(Facts& facts, const Problem& problem) {
    facts.is_mixed.assign(problem.columns.size() * 256, 0);
    for (const auto& column : problem.columns) {
        if (column.is_mixed)
            std::copy_n(column.is_mixed, 256,
                        facts.is_mixed.begin() + static_cast<std::ptrdiff_t>(facts.columns.size() * 256));
        facts.columns.push_back({column.type, column.n_categories, column.fine_bins != nullptr});
    }
}

}  // namespace

Facts facts_of(const Problem& problem, const NumberGrids& number_grids, std::int64_t word_rows) {
    Facts facts;
    facts.n_rows = static_cast<std::int64_t>(problem.n_rows);
    facts.n_counted = static_cast<std::int64_t>(problem.rows.size());
    facts.n_outputs = problem.targets.n_outputs;
    facts.n_classes = problem.targets.n_classes;
    facts.is_weighted = problem.is_weighted();
    facts.number_grids = number_grids;
    facts.word_rows = word_rows;
    if (problem.fine_bins) add_columns(facts, problem);
    if (problem.rows.empty()) return facts;
    facts.heaviest = 1;
    if (facts.is_weighted) {
        facts.heaviest = 0;
        for (const Row row : problem.rows) facts.heaviest = std::max(facts.heaviest, problem.weight(row));
    }
    if (!number_grids.are_made) return facts;
    facts.least = problem.number(problem.rows.front());  // rows are sorted by their numbers
    facts.largest = problem.number(problem.rows.back());
    if (number_grids.are_centred) add_numbers(problem, problem.rows, 0, facts.sum, facts.weight);
    return facts;
}

std::size_t Agreement::most_excerpted(std::size_t n) const {
    std::size_t bytes = 0;  // of each row
    for (const auto& column : columns) bytes += item_size(column.type) + sizeof(FineBin);
    return std::min({max_excerpt_rows, max_excerpt_bytes / bytes, n / 2});
}

Agreement agree(const Facts& facts) {
    Agreement agreement{.n_rows = facts.n_rows,
                        .n_counted = facts.n_counted,
                        .n_outputs = facts.n_outputs,
                        .n_classes = facts.n_classes,
                        .is_weighted = facts.is_weighted,
                        .columns = facts.columns,
                        .is_mixed = facts.is_mixed,
                        .word_rows = facts.word_rows};
    GridMaker(facts, agreement).make();
    return agreement;
}

Agreement agree_on(const Problem& problem, const NumberGrids& number_grids, std::int64_t word_rows) {
    Facts facts = facts_of(problem, number_grids, word_rows);
    for (;;) {
        Agreement agreement = agree(facts);
        if (!agreement.question) return agreement;
        facts.answers.push_back(answer(problem, *agreement.question));
    }
}

}  // namespace treewright
