// A fixed corpus of fits: every criterion and every grower, with weights, missing values, categories and
// limits. Data come from whole numbers and sums alone, so that they are the same everywhere; so must be what
// is grown.
#include "fits.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <variant>

#include "boosting/boosting.hpp"
#include "criteria/criterion.hpp"
#include "data/binning.hpp"
#include "growers/constrained/grower.hpp"
#include "growers/grower.hpp"
#include "growers/oblique/grower.hpp"
#include "growers/thresholds.hpp"
#include "kd_tree/searching.hpp"
#include "pruning/weakest_links.hpp"
#include "shapley/quadrature.hpp"
#include "tables.hpp"

namespace fits {

namespace {

using namespace treewright;

/// FNV-1a over the bits of numbers, eight bytes at a time from the lowest on.
class Hash {
  public:
    template <class T, class Allocator>
    Hash& operator<<(const std::vector<T, Allocator>& numbers) {
        add(numbers.size());
        for (const T& number : numbers) *this << number;
        return *this;
    }
    Hash& operator<<(double number) { return add(std::bit_cast<std::uint64_t>(number)); }
    template <std::integral T>
    Hash& operator<<(T number) {
        return add(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
    }
    Hash& operator<<(const Direction& direction) { return *this << direction.columns << direction.weights; }
    Hash& operator<<(const GrownTree& tree) {
        *this << tree.end << tree.feature << tree.step << tree.low << tree.high << tree.subset << tree.rows
              << tree.missing_left << tree.subsets << tree.statistic << tree.directions << tree.leaves.start
              << tree.leaves.column << tree.leaves.value;
        for (std::size_t node = 0; node < tree.low.size(); ++node)
            if (tree.low[node] == tree.low[node])
                *this << readable_threshold(tree.low[node], tree.high[node]);
        return *this;
    }
    Hash& operator<<(const constrained::Tree& tree) {
        return *this << tree.tree << tree.joined << tree.surrogate_node << tree.surrogate_feature
                     << tree.surrogate_low << tree.surrogate_high << tree.surrogate_agreement
                     << tree.surrogate_adjusted << tree.surrogate_subset << tree.surrogate_subsets
                     << tree.surrogate_reversed;
    }
    std::uint64_t value() const { return value_; }

  private:
    Hash& add(std::uint64_t number) {
        for (int byte = 0; byte < 8; ++byte, number >>= 8) {
            value_ ^= number & 0xff;
            value_ *= 0x100000001b3;
        }
        return *this;
    }
    std::uint64_t value_ = 0xcbf29ce484222325;
};

/// Rows of six columns: real numbers, few values with missing ones, float32, six categories, many categories
/// with missing ones, noise; and targets that depend on them.
struct Table {
    std::size_t n;
    std::vector<double> real, few, noise, weight, counts, number, other_number;
    std::vector<float> single;
    std::vector<std::int32_t> six, many, labels, two, forty;
    std::vector<Column> columns;

    Table(std::size_t n_rows, std::uint64_t seed) : n(n_rows) {
        Random random{seed};
        for (std::size_t row = 0; row < n; ++row) draw_row(random);
        columns = {tables::column_of(real),   tables::column_of(few),      tables::column_of(single),
                   tables::column_of(six, 6), tables::column_of(many, 90), tables::column_of(noise)};
    }
    Table(const Table&) = delete;

  private:
    void draw_row(Random& random) {
        real.push_back(random.uniform() * 200 - 100);
        few.push_back(random.below(10) == 0 ? tables::missing : static_cast<double>(random.below(7)) / 2);
        single.push_back(static_cast<float>(random.uniform()));
        six.push_back(static_cast<std::int32_t>(random.below(6)));
        many.push_back(random.below(12) == 0 ? -1 : static_cast<std::int32_t>(random.below(90)));
        noise.push_back(random.uniform());
        weight.push_back(random.uniform() * (random.below(50) == 0 ? 1000 : 1));
        double level = real.back() / 50 + (six.back() % 2 == 0 ? 1.0 : -0.5) + (many.back() % 7) * 0.3;
        if (few.back() == few.back()) level += few.back() * (single.back() > 0.4F ? 1 : -1);
        const double noisy = level + random.uniform() * 2 + random.uniform() - random.uniform();
        number.push_back(noisy);
        other_number.push_back(noisy * noisy - real.back());
        counts.push_back(std::floor(std::max(0.0, noisy)));
        two.push_back(noisy > 1 ? 1 : 0);
        labels.push_back(std::clamp(static_cast<std::int32_t>(noisy + 2), 0, 4));
        forty.push_back(static_cast<std::int32_t>(random.below(8)) + (labels.back() * 8));
    }
};

/// What a fit may change about a problem.
using Change = std::function<void(Problem&)>;

void ignore(Problem&) {}

class Corpus {
  public:
    std::vector<Fit> fits;

    void make() {
        grow_by_all_criteria();
        grow_with_limits();
        grow_constrained();
        boost_all_losses();
        find_neighbours();
        prune();
        for (const std::size_t n : {1, 2, 3, 8, 24, 57, 120}) {
            const Quadrature points(n);
            note("points of Gauss and Legendre, " + std::to_string(n),
                 Hash() << points.t << points.rest << points.weight);
        }
    }

  private:
    Table small_{500, 1}, large_{5000, 2};
    const double critical_[6] = {0, 3.84, 5.99, 7.81, 9.49, 11.07};

    void note(const std::string& name, const Hash& hash) { fits.push_back({name, hash.value()}); }

    static const std::vector<std::int32_t>& labels_for(const Table& table, std::size_t n_classes) {
        return n_classes == 2 ? table.two : n_classes == 5 ? table.labels : table.forty;
    }
    static Problem problem_of(const Table& table, const Criterion& criterion, std::size_t n_classes) {
        Problem problem;
        problem.n_rows = table.n;
        problem.columns = table.columns;
        if (criterion.of_classes()) {
            problem.targets.labels = labels_for(table, n_classes).data();
            problem.targets.n_classes = {static_cast<std::int32_t>(n_classes)};
        } else {
            problem.targets.numbers = criterion.name == "poisson" ? table.counts.data() : table.number.data();
        }
        return problem;
    }
    /// Grows a tree, on bins where the table is large.
    void grow_tree(const std::string& name, const Table& table, const Criterion& criterion,
                   std::size_t n_classes, const Change& change, std::size_t n_threads = 1) {
        Interrupt interrupt = tables::undisturbed();
        Pool pool(n_threads, interrupt);
        Problem problem = problem_of(table, criterion, n_classes);
        problem.interrupt = &interrupt;
        Bins bins;
        if (&table == &large_) {
            problem.limits.small_rows = 400;
            bins = bin_columns(problem.columns, table.n, pool, interrupt);
            problem.fine_bins = bins.fine.data();
            for (std::size_t i = 0; i < problem.columns.size(); ++i) {
                problem.columns[i].fine_bins = bins.fine.data() + i;
                problem.columns[i].fine_stride = problem.columns.size();
                problem.columns[i].is_mixed = bins.is_mixed.data() + i * 256;
            }
        }
        change(problem);
        note(name, Hash() << grow(problem, criterion, pool));
    }

    void grow_by_all_criteria() {
        std::vector<std::string> names;
        for (const auto& criterion : criteria()) names.emplace_back(criterion.name);
        std::sort(names.begin(), names.end());
        for (const auto& name : names)
            for (const auto* table : {&small_, &large_}) {
                const Criterion& criterion = criterion_named(name);
                const std::string size = table == &small_ ? " in lists" : " in histograms";
                for (const std::size_t n_classes : {2, 5, 40}) {
                    if (!criterion.of_classes() && n_classes > 2) continue;
                    const std::string what =
                        name +
                        (criterion.of_classes() ? " of " + std::to_string(n_classes) + " classes" : "");
                    grow_tree(what + size, *table, criterion, n_classes, ignore);
                    grow_tree(what + size + ", weighted", *table, criterion, n_classes,
                              [&](Problem& problem) { problem.targets.weight = table->weight.data(); });
                }
            }
    }

    void grow_with_limits() {
        const std::map<std::string, Change> changes{
            {"depth 4", [](Problem& problem) { problem.limits.max_depth = 4; }},
            {"20 splits", [](Problem& problem) { problem.limits.max_splits = 20; }},
            {"leaves of 15 rows", [](Problem& problem) { problem.limits.min_rows_leaf = 15; }},
            {"leaves of weight 20",
             [](Problem& problem) {
                 problem.limits.min_weight_leaf = 20;
                 problem.limits.min_gain = 0.5;
             }},
            {"two columns drawn",
             [](Problem& problem) {
                 problem.limits.max_columns = 2;
                 problem.limits.seed = 5;
             }},
            {"drawn cuts",
             [](Problem& problem) {
                 problem.limits.random_splits = true;
                 problem.limits.seed = 6;
             }},
            {"correction by weight",
             [](Problem& problem) { problem.limits.correction = Correction::by_weight; }},
            {"correction by rows", [](Problem& problem) { problem.limits.correction = Correction::by_rows; }},
        };
        for (const auto& [limits, change] : changes)
            for (const auto* name : {"gini", "entropy", "squared_error", "poisson"})
                for (const auto* table : {&small_, &large_})
                    grow_tree(
                        std::string(name) + (table == &small_ ? " in lists, " : " in histograms, ") + limits,
                        *table, criterion_named(name), 5, change);
        grow_tree("gini, tested", large_, criterion_named("gini"), 5,
                  [&](Problem& problem) { problem.limits.critical = critical_; });
        grow_tree("gini of 40 classes, wide", large_, criterion_named("gini"), 40,
                  [](Problem& problem) { problem.is_wide = true; });
        grow_tree("squared_error, two threads", large_, criterion_named("squared_error"), 2, ignore, 2);
        std::vector<double> both(large_.number);
        both.insert(both.end(), large_.other_number.begin(), large_.other_number.end());
        for (const auto* name : {"squared_error", "absolute_error"})
            grow_tree(std::string(name) + " of two targets", large_, criterion_named(name), 2,
                      [&](Problem& problem) {
                          problem.targets.n_outputs = 2;
                          problem.targets.numbers = both.data();
                          problem.limits.max_splits = 40;
                      });
        Interrupt interrupt = tables::undisturbed();
        Pool pool(1, interrupt);
        Problem problem = problem_of(small_, criterion_named("gini"), 5);
        problem.interrupt = &interrupt;
        note("sums of columns",
             Hash() << grow_oblique(problem, criterion_named("gini"), {{0, 1, 2, 5}, 3}, pool));
    }

    void grow_with(const std::string& name, const std::string& criterion_name,
                   const constrained::Options& options, const Change& change = ignore) {
        Interrupt interrupt = tables::undisturbed();
        Pool pool(1, interrupt);
        const Criterion& criterion = criterion_named(criterion_name);
        Problem problem = problem_of(small_, criterion, 5);
        problem.interrupt = &interrupt;
        change(problem);
        note(name + ", " + criterion_name, Hash() << constrained::grow(problem, criterion, options, pool));
    }
    void grow_constrained() {
        using constrained::Missing;
        for (const auto* name : {"gini", "entropy", "gain_ratio", "squared_error", "poisson"}) {
            constrained::Options options;
            options.missing = Missing::surrogate;
            options.n_surrogates = 3;
            grow_with("surrogates", name, options);
            options = {};
            options.missing = Missing::fractional;
            grow_with("fractional rows", name, options,
                      [&](Problem& problem) { problem.targets.weight = small_.weight.data(); });
            options = {};
            options.missing = Missing::category;
            grow_with("missing as a category", name, options);
            options = {};
            options.multiway = true;
            grow_with("a branch for each category", name, options);
        }
        const std::vector<std::int8_t> monotone{1, 0, -1, 0, 0, 0};
        constrained::Options options;
        options.monotone = monotone;
        grow_with("monotone", "squared_error", options);
        const std::vector<double> prices{0.1, 1, 2, 0.5, 3, 0};
        options = {};
        options.prices = prices;
        options.once = true;
        grow_with("prices", "entropy", options);
        options = {};
        options.release8 = options.multiway = true;
        options.missing = Missing::fractional;
        grow_with("release 8", "gain_ratio", options,
                  [](Problem& problem) { problem.limits.min_rows_leaf = 2; });
    }

    void boost_all_losses() {
        for (const auto* name :
             {"squared_error", "absolute_error", "quantile", "poisson", "gamma", "log_loss"})
            for (const std::size_t n_classes : {2, 5}) {
                const bool is_of_classes = std::string(name) == "log_loss";
                if (!is_of_classes && n_classes == 5) continue;
                boost_with(name, is_of_classes ? n_classes : 0, nullptr);
                boost_with(name, is_of_classes ? n_classes : 0, large_.weight.data());
            }
    }
    void boost_with(const std::string& name, std::size_t n_classes, const double* weight) {
        Interrupt interrupt = tables::undisturbed();
        Pool pool(1, interrupt);
        std::vector<double> target(large_.n);
        for (std::size_t row = 0; row < large_.n; ++row)
            target[row] = n_classes > 0       ? static_cast<double>(labels_for(large_, n_classes)[row])
                          : name == "gamma"   ? large_.counts[row] + 0.5
                          : name == "poisson" ? large_.counts[row]
                                              : large_.number[row];
        boosting::Plan plan;
        plan.loss = boosting::loss_named(name, 0.3, n_classes);
        plan.limits.max_leaves = 15;
        plan.limits.l2 = 0.5;
        plan.n_iterations = 6;
        plan.n_train = large_.n - 500;
        plan.is_scored = true;
        std::vector<double> raw(large_.n * plan.loss->n_outputs(), 0.1);
        const boosting::Aims aims{large_.n, target.data(), weight};
        const auto found =
            boosting::boost(large_.columns, nullptr, aims, raw.data(), plan, {}, {}, pool, interrupt);
        Hash hash;
        hash << found.train_loss << found.validation_loss << raw;
        for (const auto& tree : found.trees) hash << tree;
        note("boosting by " + name + (n_classes > 0 ? " of " + std::to_string(n_classes) + " classes" : "") +
                 (weight ? ", weighted" : ""),
             hash);
    }

    void find_neighbours() {
        Random random{9};
        for (const std::size_t d : {1, 3, 11}) {
            std::vector<double> points(2000 * d), queries(100 * d);
            for (auto& x : points) x = random.uniform();
            for (auto& x : queries) x = random.uniform();
            const std::vector<float> singles(points.begin(), points.end());
            search(points, queries, d, "");
            search(singles, queries, d, ", float32");
        }
    }
    template <class T>
    void search(const std::vector<T>& points, const std::vector<double>& queries, std::size_t d,
                const std::string& type) {
        Interrupt interrupt = tables::undisturbed();
        Pool pool(1, interrupt);
        const std::size_t n_queries = queries.size() / d;
        const auto tree = build_kd_tree(points.data(), points.size() / d, d, {}, pool, interrupt);
        const std::vector<double> radius(n_queries, 0.3);
        for (const KDMetric metric : {KDMetric(Euclidean{}), KDMetric(Manhattan{}), KDMetric(Chebyshev{}),
                                      KDMetric(Minkowski{3.3})}) {
            const KDQueries of{queries.data(), n_queries, metric};
            const auto nearest = find_nearest(tree, of, 5, false, pool, interrupt);
            const auto within = find_within(tree, of, radius.data(), false, true, pool, interrupt);
            const auto name = std::visit([](auto one) { return std::string(one.name); }, metric);
            note("neighbours, " + name + ", " + std::to_string(d) + " columns" + type,
                 Hash() << nearest.distance << nearest.index << nearest.visited << within.start
                        << within.distance << within.index);
        }
    }

    /// Weakest links of a tree whose losses are real numbers.
    void prune() {
        Interrupt interrupt = tables::undisturbed();
        Pool pool(1, interrupt);
        Problem problem = problem_of(large_, criterion_named("entropy"), 5);
        problem.interrupt = &interrupt;
        const auto tree = grow(problem, criterion_named("entropy"), pool);
        std::vector<double> loss;
        for (std::size_t node = 0; node < tree.end.size(); ++node)
            loss.push_back(
                criterion_named("entropy").risk({tree.statistic.data() + node * tree.width, tree.width}));
        const auto links = weakest_links(tree.end, loss, {}, interrupt);
        note("weakest links", Hash() << links.level << links.alpha << links.loss << links.leaves);
    }
};

std::map<std::string, std::string> read(const std::string& path) {
    std::map<std::string, std::string> found;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.size() > 17 && line[0] != '#') found[line.substr(17)] = line.substr(0, 16);
    }
    return found;
}

std::string text_of(std::uint64_t hash) {
    std::ostringstream text;
    text << std::hex << std::setw(16) << std::setfill('0') << hash;
    return text.str();
}

}  // namespace

std::vector<Fit> make_all() {
    Corpus corpus;
    corpus.make();
    return corpus.fits;
}

bool compare(const std::string& path) {
    auto expected = read(path);
    std::size_t n_equal = 0, n_other = 0;
    for (const auto& [name, hash] : make_all()) {
        const bool is_equal = expected[name] == text_of(hash);
        (is_equal ? n_equal : n_other) += 1;
        if (!is_equal) std::cerr << "another fit: " << name << '\n';
        expected.erase(name);
    }
    for (const auto& [name, hash] : expected) std::cerr << "no such fit: " << name << '\n';
    std::cout << n_equal << " fits as they were, " << n_other << " others, " << expected.size()
              << " missing\n";
    return n_other == 0 && expected.empty();
}

bool save(const std::string& path) {
    std::ofstream file(path);
    file << "# Hashes of the fits of unit/fits.cpp, the same on every platform. `core_tests --save-fits` "
            "writes them.\n";
    for (const auto& [name, hash] : make_all()) file << text_of(hash) << ' ' << name << '\n';
    return static_cast<bool>(file.flush());
}

}  // namespace fits
