// The rows from which the edges of bins are estimated.
#include "boosting/edge_sample.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

#include "data/problem.hpp"
#include "support/unfilled.hpp"

namespace treewright::boosting {

namespace {

constexpr std::size_t least_rows = 20000;   // of a sample that is not whole
constexpr std::size_t n_first_columns = 4;  // which are hashed at first: half a line of the cache
constexpr std::size_t rows_of_task = 2048;  // whose hashes stay in the nearest cache
constexpr std::size_t parts_of_task = 256;
constexpr int most_bits_of_parts = 20;  // so that a thread's counts stay in cache
constexpr std::size_t crowd = 64;       // times the mean: parts that hashes of more columns would divide

/// Columns in the order in which they are hashed: numbers first, which tell rows apart best.
std::vector<std::size_t> hashing_order(const std::vector<Column>& columns) {
    std::vector<std::size_t> order(columns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_partition(order.begin(), order.end(),
                          [&](std::size_t column) { return !columns[column].is_category(); });
    return order;
}

/// Finds every so-manieth row in the order of hashes without sorting the others: rows are counted by the
/// first bits of their hashes, and only the parts in which one is wanted are sorted.
class Selection {
  public:
    Selection(const std::vector<Column>& columns, const Chosen& chosen, std::size_t step, Pool& pool,
              Interrupt& interrupt)
        : columns_(columns),
          chosen_(chosen),
          step_(step),
          pool_(pool),
          interrupt_(interrupt),
          order_(hashing_order(columns)),
          n_hashed_(std::min(n_first_columns, columns.size())),
          bits_(std::clamp(static_cast<int>(std::bit_width(chosen.n_repeated())) - 2, 8, most_bits_of_parts)),
          hashes_(chosen.n) {}

    std::vector<Row> rows() {
        auto counts = counted();
        const std::size_t mean = chosen_.n_repeated() >> bits_;
        if (n_hashed_ < order_.size() &&
            *std::max_element(counts.begin(), counts.end()) > crowd * std::max<std::size_t>(mean, 1)) {
            n_hashed_ = order_.size();
            counts = counted();
        }
        auto found = collected(open_parts(counts));
        std::vector<Row> out((chosen_.n_repeated() + step_ - 1) / step_);
        pool_.run((parts_.size() + parts_of_task - 1) / parts_of_task, [&](std::size_t task, std::size_t) {
            interrupt_.check();
            const std::size_t end = std::min(parts_.size(), (task + 1) * parts_of_task);
            for (std::size_t i = task * parts_of_task; i < end; ++i)
                take_from(parts_[i], found.data() + parts_[i].begin, out);
        });
        return out;
    }

  private:
    using Count = std::uint32_t;
    struct Hashed {
        std::uint64_t hash;
        Row row;

        bool operator<(const Hashed& other) const { return hash < other.hash; }
    };
    /// Rows whose hashes begin with the same bits.
    struct Part {
        std::size_t first;                // how many rows, with repetitions, come before
        std::size_t begin = 0, size = 0;  // of its rows among all that are collected
    };

    std::size_t part_of(std::uint64_t hash) const { return hash >> (64 - bits_); }

    /// Numbers for n rows that depend on their values in the first columns of the order.
    template <class RowOf>
    void hash(std::size_t n_columns, std::size_t n, const RowOf& row, std::uint64_t* out) const {
        std::fill_n(out, n, 0);
        for (const std::size_t* column = order_.data(); column != order_.data() + n_columns; ++column) {
            const std::uint64_t factor = Random{*column}.next() | 1;
            const auto add = [&](auto bits) {
                for (std::size_t i = 0; i < n; ++i) out[i] = (std::rotl(out[i], 25) ^ bits(row(i))) * factor;
            };
            if (columns_[*column].is_category())
                add([&](std::size_t i) { return static_cast<std::uint64_t>(columns_[*column].code(i)); });
            else
                with_values(columns_[*column], [&](auto value) {
                    add([&](std::size_t i) {
                        const double v = value(i);
                        return v == v ? std::bit_cast<std::uint64_t>(v + 0.0) : ~std::uint64_t{0};
                    });
                });
        }
        for (std::size_t i = 0; i < n; ++i) out[i] = Random{out[i]}.next();
    }

    /// Hashes all rows; returns how many there are in each part, with repetitions.
    std::vector<Count> counted() {
        std::vector<std::vector<Count>> of_thread(pool_.size());
        in_tasks([&](std::size_t begin, std::size_t end, std::size_t thread) {
            auto& counts = of_thread[thread];
            counts.resize(std::size_t{1} << bits_);
            hash(
                n_hashed_, end - begin, [&](std::size_t i) { return chosen_[begin + i]; },
                hashes_.data() + begin);
            for (std::size_t i = begin; i < end; ++i)
                counts[part_of(hashes_[i])] += static_cast<Count>(chosen_.count(i));
        });
        std::vector<Count> all(std::size_t{1} << bits_);
        for (const auto& counts : of_thread)
            for (std::size_t i = 0; i < counts.size(); ++i) all[i] += counts[i];
        return all;
    }

    /// Notes the parts in which a row is wanted; returns the place of each part among these.
    std::vector<Count> open_parts(std::vector<Count> counts) {
        std::size_t first = 0, wanted = 0;
        for (auto& count : counts) {
            const std::size_t end = first + count;
            count = none;
            if (wanted < end) {
                count = static_cast<Count>(parts_.size());
                parts_.push_back({first});
                wanted += (end - wanted + step_ - 1) / step_ * step_;
            }
            first = end;
        }
        return counts;
    }

    /// The rows of these parts, part after part.
    UnfilledVector<Hashed> collected(const std::vector<Count>& place) {
        std::vector<std::vector<Row>> of_thread(pool_.size());
        in_tasks([&](std::size_t begin, std::size_t end, std::size_t thread) {
            for (std::size_t i = begin; i < end; ++i)
                if (place[part_of(hashes_[i])] != none) of_thread[thread].push_back(static_cast<Row>(i));
        });
        const auto part = [&](Row i) -> Part& { return parts_[place[part_of(hashes_[i])]]; };
        for (const auto& rows : of_thread)
            for (const Row i : rows) ++part(i).size;
        std::size_t n = 0;
        for (auto& each : parts_) each.begin = std::exchange(n, n + std::exchange(each.size, 0));
        UnfilledVector<Hashed> found(n);
        for (const auto& rows : of_thread)
            for (const Row i : rows) found[part(i).begin + part(i).size++] = {hashes_[i], i};
        return found;
    }

    /// Writes the wanted rows of a part where they are wanted.
    void take_from(const Part& part, Hashed* rows, std::vector<Row>& out) const {
        std::sort(rows, rows + part.size);
        for (Hashed *begin = rows, *end = rows; begin != rows + part.size; begin = end) {
            while (end != rows + part.size && end->hash == begin->hash) ++end;
            if (end - begin > 1 && n_hashed_ < order_.size()) sort_by_all_columns(begin, end);
        }
        std::size_t first = part.first, wanted = (first + step_ - 1) / step_;
        for (const Hashed* each = rows; each != rows + part.size; ++each)
            for (first += chosen_.count(each->row); wanted * step_ < first; ++wanted) out[wanted] = each->row;
    }
    void sort_by_all_columns(Hashed* begin, Hashed* end) const {
        const auto n = static_cast<std::size_t>(end - begin);
        std::vector<std::uint64_t> hashes(n);
        hash(order_.size(), n, [&](std::size_t i) { return chosen_[begin[i].row]; }, hashes.data());
        for (std::size_t i = 0; i < n; ++i) begin[i].hash = hashes[i];
        std::sort(begin, end);
    }

    /// Calls work(begin, end, thread) for the places of chosen rows.
    template <class Work>
    void in_tasks(const Work& work) {
        pool_.run((chosen_.n + rows_of_task - 1) / rows_of_task, [&](std::size_t task, std::size_t thread) {
            interrupt_.check();
            work(task * rows_of_task, std::min(chosen_.n, (task + 1) * rows_of_task), thread);
        });
    }

    static constexpr Count none = ~Count{0};

    const std::vector<Column>& columns_;
    const Chosen& chosen_;
    std::size_t step_;
    Pool& pool_;
    Interrupt& interrupt_;
    std::vector<std::size_t> order_;
    std::size_t n_hashed_;  // columns
    int bits_;
    UnfilledVector<std::uint64_t> hashes_;
    std::vector<Part> parts_;  // in which a row is wanted
};

}  // namespace

EdgeSample::EdgeSample(const std::vector<Column>& columns, const Chosen& chosen, Pool& pool,
                       Interrupt& interrupt) {
    const std::size_t step = std::max<std::size_t>(1, chosen.n_repeated() / least_rows);
    is_whole = step == 1;
    if (!is_whole) {
        rows = Selection(columns, chosen, step, pool, interrupt).rows();
        return;
    }
    for (std::size_t i = 0; i < chosen.n; ++i) rows.insert(rows.end(), chosen.count(i), static_cast<Row>(i));
}

}  // namespace treewright::boosting
