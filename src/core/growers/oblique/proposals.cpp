// Directions from the moments of a node's rows. Columns are looked at in units of their spread, cut off at
// four of them; a missing value counts as the mean. None of this decides anything: every direction is
// scanned exactly afterwards.
#include "growers/oblique/proposals.hpp"

#include <algorithm>
#include <numeric>

namespace treewright {

namespace {

constexpr std::size_t most_columns = 32;   // whose products are summed
constexpr std::size_t random_columns = 8;  // of these, drawn where there are more
constexpr std::size_t most_responses = 6;  // classes, or targets, that directions are made for
constexpr std::size_t by_regression = 12;  // directions, shared by the responses
constexpr std::size_t at_random = 12;      // directions
constexpr double ridge = 0.01;             // in units of a column's spread
constexpr double least_part = 0.05;        // of the largest: smaller weights are dropped
constexpr double farthest = 4.0;           // from the mean, in units of the spread

class Proposer {
  public:
    Proposer(const Problem& problem, std::span<const std::int32_t> columns, std::size_t most,
             std::span<const Row> rows, std::uint64_t key)
        : problem_(problem), most_(most), rows_(rows), random_{key ^ 0xd1b54a32d192ed03ULL} {
        weigh_rows();
        make_responses();
        choose_columns(columns);
    }

    std::vector<Direction> propose() {
        if (columns_.size() < 2) return {};
        sum_products();
        const std::size_t each = std::max<std::size_t>(2, by_regression / covariance_.size());
        for (const auto& covariance : covariance_) regress(covariance, each);
        draw();
        return std::move(found_);
    }

  private:
    using Numbers = std::vector<double>;
    /// Places of columns, and the solution of the ridge regression on them.
    struct Fit {
        std::vector<std::size_t> places;
        Numbers weights;
        double explained = 0;
    };

    void weigh_rows() {
        double total = 0;
        for (const Row row : rows_) total += problem_.weight(row);
        share_.reserve(rows_.size());
        for (const Row row : rows_) share_.push_back(problem_.weight(row) / total);
    }

    /// What the columns are to explain: each number; of each class whether a row is of it. With two classes
    /// one says as much as the other, and regression finds Fisher's discriminant.
    void make_responses() {
        const auto& targets = problem_.targets;
        for (std::size_t output = 0; output < targets.n_outputs; ++output) {
            if (!targets.are_classes()) {
                add_response([&](Row row) { return problem_.number(row, output); });
                continue;
            }
            const auto classes = heaviest_classes(output);
            for (std::size_t i = 0; i < (classes.size() == 2 ? 1 : classes.size()); ++i)
                add_response([&](Row row) { return problem_.label(row, output) == classes[i] ? 1.0 : 0.0; });
        }
    }
    std::vector<std::int32_t> heaviest_classes(std::size_t output) const {
        std::vector<double> weight(static_cast<std::size_t>(problem_.targets.n_classes[output]), 0.0);
        for (std::size_t i = 0; i < rows_.size(); ++i) weight[problem_.label(rows_[i], output)] += share_[i];
        std::vector<std::int32_t> classes;
        for (std::size_t k = 0; k < weight.size(); ++k)
            if (weight[k] > 0) classes.push_back(static_cast<std::int32_t>(k));
        std::stable_sort(classes.begin(), classes.end(),
                         [&](auto a, auto b) { return weight[a] > weight[b]; });
        if (classes.size() > most_responses) classes.resize(most_responses);
        return classes;
    }
    template <class ValueOf>
    void add_response(ValueOf value_of) {
        if (response_.size() == most_responses) return;
        Numbers values(rows_.size());
        std::transform(rows_.begin(), rows_.end(), values.begin(), value_of);
        if (standardise(values) > 0) response_.push_back(std::move(values));
    }

    /// Values in units of their spread about the mean; returns the spread, 0 where there is none.
    double standardise(Numbers& values) const {
        double known = 0, sum = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (std::isfinite(values[i])) {
                known += share_[i];
                sum += share_[i] * values[i];
            }
        const double mean = sum / known;
        double squares = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = std::isfinite(values[i]) ? values[i] - mean : 0.0;
            squares += share_[i] * values[i] * values[i];
        }
        const double spread = std::sqrt(squares / known);
        if (!(spread > 0 && std::isfinite(spread))) return 0;
        for (double& value : values) value = std::clamp(value / spread, -farthest, farthest);
        return spread;
    }
    double product(const Numbers& a, const Numbers& b) const {
        double sums[4] = {};  // one after the other they would wait for each other
        std::size_t i = 0;
        for (; i + 4 <= a.size(); i += 4)
            for (std::size_t lane = 0; lane < 4; ++lane)
                sums[lane] += share_[i + lane] * a[i + lane] * b[i + lane];
        for (; i < a.size(); ++i) sums[0] += share_[i] * a[i] * b[i];
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    /// Keeps the columns that vary; of very many those that tell most by themselves, and some at random.
    void choose_columns(std::span<const std::int32_t> columns) {
        std::vector<double> told;
        for (const auto column : columns) {
            Numbers values(rows_.size());
            std::transform(rows_.begin(), rows_.end(), values.begin(),
                           [&](Row row) { return problem_.columns[column].value(row); });
            const double spread = standardise(values);
            problem_.interrupt->check();
            if (spread == 0) continue;
            double most = 0;
            for (const auto& response : response_) most = std::max(most, std::abs(product(values, response)));
            told.push_back(most);
            columns_.push_back(column);
            spread_.push_back(spread);
            if (columns.size() <= most_columns) values_.push_back(std::move(values));
        }
        if (columns.size() > most_columns) narrow(told);
    }
    void narrow(const std::vector<double>& told) {
        std::vector<std::size_t> order(columns_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return told[a] > told[b]; });
        if (order.size() > most_columns) {
            for (std::size_t i = most_columns - random_columns; i < most_columns; ++i)
                std::swap(order[i], order[i + random_.below(order.size() - i)]);
            order.resize(most_columns);
        }
        std::sort(order.begin(), order.end());
        std::vector<std::int32_t> columns;
        Numbers spread;
        for (const auto place : order) {
            columns.push_back(columns_[place]);
            Numbers values(rows_.size());
            std::transform(rows_.begin(), rows_.end(), values.begin(),
                           [&](Row row) { return problem_.columns[columns.back()].value(row); });
            spread.push_back(standardise(values));
            values_.push_back(std::move(values));
        }
        columns_ = std::move(columns);
        spread_ = std::move(spread);
    }

    void sum_products() {
        const std::size_t n = columns_.size();
        products_.assign(n * n, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = i; j < n; ++j)
                products_[i * n + j] = products_[j * n + i] = product(values_[i], values_[j]);
            products_[i * n + i] += ridge;
            problem_.interrupt->check();
        }
        for (const auto& response : response_) {
            covariance_.emplace_back();
            for (const auto& values : values_) covariance_.back().push_back(product(values, response));
        }
        if (covariance_.empty()) covariance_.emplace_back(n, 0.0);
    }

    /// Ridge regression on some columns, by elimination; the matrix is positive definite.
    Fit fit(std::vector<std::size_t> places, const Numbers& covariance) const {
        const std::size_t n = columns_.size(), k = places.size();
        Numbers matrix(k * k), right(k);
        for (std::size_t i = 0; i < k; ++i) {
            right[i] = covariance[places[i]];
            for (std::size_t j = 0; j < k; ++j) matrix[i * k + j] = products_[places[i] * n + places[j]];
        }
        for (std::size_t pivot = 0; pivot < k; ++pivot)
            for (std::size_t i = pivot + 1; i < k; ++i) {
                const double factor = matrix[i * k + pivot] / matrix[pivot * k + pivot];
                for (std::size_t j = pivot; j < k; ++j) matrix[i * k + j] -= factor * matrix[pivot * k + j];
                right[i] -= factor * right[pivot];
            }
        for (std::size_t i = k; i-- > 0;) {
            for (std::size_t j = i + 1; j < k; ++j) right[i] -= matrix[i * k + j] * right[j];
            right[i] /= matrix[i * k + i];
        }
        Fit out{std::move(places), std::move(right)};
        for (std::size_t i = 0; i < k; ++i) out.explained += out.weights[i] * covariance[out.places[i]];
        return out;
    }
    /// The best pairs; the best of them with further columns; and the heaviest columns of all together.
    void regress(const Numbers& covariance, std::size_t n_wanted) {
        const std::size_t n = columns_.size();
        std::vector<Fit> pairs;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = i + 1; j < n; ++j) pairs.push_back(fit({i, j}, covariance));
        const std::size_t n_kept = std::min(n_wanted, pairs.size());
        std::stable_sort(pairs.begin(), pairs.end(),
                         [](const Fit& a, const Fit& b) { return a.explained > b.explained; });
        pairs.resize(n_kept);
        for (const auto& pair : pairs) keep(pair);
        keep(even(pairs[0]));
        if (most_ < 3 || n < 3) return;
        for (std::size_t i = 0; i < std::min<std::size_t>(2, n_kept); ++i) {
            Fit grown = pairs[i];
            while (grown.places.size() < std::min(most_, n)) {
                keep(grown = extended(grown, covariance));
                keep(even(grown));
            }
        }
        std::vector<std::size_t> all(n);
        std::iota(all.begin(), all.end(), std::size_t{0});
        const Fit whole = fit(all, covariance);
        std::stable_sort(all.begin(), all.end(), [&](auto a, auto b) {
            return std::abs(whole.weights[a]) > std::abs(whole.weights[b]);
        });
        all.resize(std::min(most_, n));
        std::sort(all.begin(), all.end());
        keep(fit(all, covariance));
    }
    /// The same columns with the same signs, each as heavy as the others in units of its spread.
    static Fit even(Fit fit) {
        for (double& weight : fit.weights) weight = weight < 0 ? -1.0 : 1.0;
        return fit;
    }
    Fit extended(const Fit& known, const Numbers& covariance) const {
        Fit best;
        best.explained = -1;
        for (std::size_t place = 0; place < columns_.size(); ++place) {
            if (std::find(known.places.begin(), known.places.end(), place) != known.places.end()) continue;
            auto places = known.places;
            places.insert(std::upper_bound(places.begin(), places.end(), place), place);
            Fit tried = fit(std::move(places), covariance);
            if (tried.explained > best.explained) best = std::move(tried);
        }
        return best;
    }
    void keep(const Fit& fit) {
        double largest = 0;
        for (const double weight : fit.weights) largest = std::max(largest, std::abs(weight));
        Direction direction;
        for (std::size_t i = 0; i < fit.places.size(); ++i)
            if (std::abs(fit.weights[i]) > least_part * largest) {
                direction.columns.push_back(columns_[fit.places[i]]);
                direction.weights.push_back(fit.weights[i] / spread_[fit.places[i]]);
            }
        if (direction.is_sum()) add(direction);
    }
    void add(const Direction& direction) {
        Direction readable = readable_direction(direction, 2);
        if (readable.is_sum() && std::find(found_.begin(), found_.end(), readable) == found_.end())
            found_.push_back(std::move(readable));
    }

    /// Sums and differences of a few columns, each in units of its spread: all pairs where they are few.
    void draw() {
        const std::size_t n = columns_.size();
        if (n * (n - 1) <= at_random) {
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = i + 1; j < n; ++j)
                    for (const double sign : {1.0, -1.0}) keep({{i, j}, {1.0, sign}});
            return;
        }
        std::vector<std::size_t> places(n);
        std::iota(places.begin(), places.end(), std::size_t{0});
        for (std::size_t drawn = 0; drawn < at_random; ++drawn) {
            const std::size_t k = 2 + random_.below(std::min(most_, n) - 1);
            for (std::size_t i = 0; i < k; ++i) std::swap(places[i], places[i + random_.below(n - i)]);
            Fit sum{{places.begin(), places.begin() + static_cast<std::ptrdiff_t>(k)}, {}};
            std::sort(sum.places.begin(), sum.places.end());
            for (std::size_t i = 0; i < k; ++i) sum.weights.push_back(random_.next() >> 63 ? 1.0 : -1.0);
            keep(sum);
        }
    }

    const Problem& problem_;
    std::size_t most_;
    std::span<const Row> rows_;
    Random random_;
    Numbers share_;  // of each row in the weight of all
    std::vector<std::int32_t> columns_;
    Numbers spread_;                   // of each column
    std::vector<Numbers> values_;      // of each column, standardised
    std::vector<Numbers> response_;    // standardised
    Numbers products_;                 // of the columns
    std::vector<Numbers> covariance_;  // of each response with the columns
    std::vector<Direction> found_;
};

}  // namespace

std::vector<Direction> propose_directions(const Problem& problem, std::span<const std::int32_t> columns,
                                          std::size_t most, std::span<const Row> rows, std::uint64_t key) {
    return Proposer(problem, columns, most, rows, key).propose();
}

}  // namespace treewright
