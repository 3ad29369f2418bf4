// Histograms of nodes by several threads.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "boosting/division.hpp"
#include "boosting/histograms.hpp"
#include "boosting/sums.hpp"
#include "support/portable.hpp"
#include "support/unfilled.hpp"

namespace treewright::boosting {

/// Adds up rows, of which it keeps gradients and hessians.
///
/// Many rows are divided among the threads, and each thread adds its own up in a histogram of its own. Few
/// rows would not be worth so many histograms: then each thread adds up all rows, but in some of the columns,
/// from entries that are gathered before. `Form` is that of rows and of what a thread adds up, `NodeForm`
/// that of the histograms of nodes.
template <class Form, class NodeForm>
class Adder {
  public:
    using Entry = typename Form::Entry;
    using NodeEntry = typename NodeForm::Entry;

    Adder(const Cells& cells, std::size_t n_rows) : cells_(cells), rows_(n_rows) {}

    void use(Pool& pool, Interrupt& interrupt, const Units& units) {
        pool_ = &pool;
        interrupt_ = &interrupt;
        units_ = units;
        workers_.resize(pool.size());
    }

    /// Whether so many rows are worth calling the threads.
    bool is_many(std::size_t n_rows) const {
        return pool_->size() > 1 && n_rows > chunk_size && n_rows * cells_.columns.size() > worth_threads;
    }
    bool takes_rows() const { return takes_rows_; }

    /// Goes over to another histogram, to which some rows will be added; `rows` may be filled later.
    void begin(NodeEntry* histogram, const Row* rows, std::size_t n_rows) {
        constexpr std::size_t worth_histograms = 2048;  // rows of each thread
        histogram_ = histogram;
        of_ = rows;
        n_rows_ = n_rows;
        takes_rows_ = pool_->size() == 1 || n_rows > worth_histograms * pool_->size();
        has_begun_ = false;
        if (!takes_rows_ && entries_.size() < n_rows) entries_.resize(n_rows);
        for (auto& worker : workers_) worker.has_added = false;
    }

    /// Packs the gradients and hessians of all rows, multiplied with their weights if these are repeats, and
    /// returns their sums; `order` becomes that of the table. Adds them up if they have a histogram.
    Sums pack(const double* gradient, const double* hessian, const Repeats& repeats, Row* order,
              bool has_histogram) {
        std::vector<Sums> sums(pool_->size());
        in_parts(rows_.size(), [&](std::size_t begin, std::size_t end, std::size_t thread) {
            interrupt_->check();
            Entry sum{};
            for (std::size_t i = begin; i < end; ++i) {
                rows_[i] = Form::pack(units_, gradient[i], hessian[i]);
                if (repeats) rows_[i] = Form::times(rows_[i], static_cast<std::int64_t>(repeats.weight[i]));
                sum += Form::entry(rows_[i], units_.count_bits);
                order[i] = static_cast<Row>(i);
            }
            sums[thread] += Form::unpack(units_, sum);
            if (!has_histogram) return;
            if (takes_rows_)
                add_chunk(begin, end, thread);
            else
                gather(order + begin, end - begin, begin);
        });
        Sums all;
        for (const auto& of_thread : sums) all += of_thread;
        return all;
    }
    /// The entries of some rows, for threads that take columns; the rows have place `at` among all.
    void gather(const Row* rows, std::size_t n, std::size_t at) {
        make_entries(rows, n, entries_.data() + at);
    }
    void gather_all() {
        in_chunks(0, n_rows_, is_many(n_rows_), *pool_, [&](std::size_t begin, std::size_t end, std::size_t) {
            gather(of_ + begin, end - begin, begin);
        });
    }
    /// Adds all rows up, for threads that take rows.
    void add_all() {
        in_parts(n_rows_, [&](std::size_t begin, std::size_t end, std::size_t thread) {
            interrupt_->check();
            add_chunk(begin, end, thread);
        });
    }
    /// Adds up some rows by one thread, while others may do the same with others; at most `most_packed`.
    void add_alone(NodeEntry* histogram, const Row* rows, std::size_t n_rows, std::size_t thread) {
        const std::size_t size = cells_.histogram_size();
        Entry* const sums = to_fill(histogram, thread);
        std::fill_n(sums, size, Entry{});
        for (std::size_t begin = 0; begin < n_rows; begin += chunk_size)
            add_rows_to(sums, rows + begin, std::min(chunk_size, n_rows - begin));
        unpack_from(sums, histogram, 0, size);
    }

    /// Calls work(first, last, thread) for ranges of columns, whose histograms are made before. `more` is
    /// what else there is to do.
    template <class Work>
    void finish(std::size_t more, const Work& work) {
        const std::size_t steps =
            cells_.histogram_size() + (takes_rows_ ? 0 : n_rows_ * cells_.columns.size()) + more;
        over_columns(steps > worth_threads, [&](std::size_t first, std::size_t last, std::size_t thread) {
            if (takes_rows_)
                add_up(cells_.start[first], cells_.start[last]);
            else
                add_gathered(first, last, thread);
            work(first, last, thread);
        });
    }

  private:
    static constexpr bool is_direct = std::is_same_v<Entry, NodeEntry>;  // threads may add to a node's own

    struct alignas(64) Worker {
        std::vector<Entry> histogram;
        bool has_added = false;  // something to it, or the first thread to that of the node
    };

    /// Calls work(begin, end, thread) for chunks of rows; before packed sums overflow they are emptied.
    template <class Work>
    void in_parts(std::size_t n_rows, const Work& work) {
        for (std::size_t first = 0; first < n_rows; first += most_packed) {
            if (first > 0) empty();
            const std::size_t last = std::min(n_rows, first + most_packed);
            in_chunks(first, last, is_many(last - first), *pool_, work);
        }
    }
    void empty() {
        over_columns(true, [&](std::size_t first, std::size_t last, std::size_t) {
            add_up(cells_.start[first], cells_.start[last]);
        });
        for (auto& worker : workers_) has_begun_ |= std::exchange(worker.has_added, false);
    }

    /// Calls work(first, last, thread) for ranges of columns, the same number for each thread.
    template <class Work>
    void over_columns(bool many, const Work& work) {
        const std::size_t n = cells_.columns.size(), n_threads = pool_->size();
        if (!many || n_threads == 1) return work(0, n, 0);
        const std::size_t n_groups = (n + group_size - 1) / group_size;
        const std::size_t n_tasks = std::min(n, (n_groups + n_threads - 1) / n_threads * n_threads);
        pool_->run(n_tasks, [&](std::size_t task, std::size_t thread) {
            work(task * n / n_tasks, (task + 1) * n / n_tasks, thread);
        });
    }

    void make_entries(const Row* rows, std::size_t n, Entry* entries) const {
        for (std::size_t i = 0; i < n; ++i) {
            prefetch(rows_.data() + rows[std::min(i + 32, n - 1)]);
            entries[i] = Form::entry(rows_[rows[i]], units_.count_bits);
        }
    }
    void add_chunk(std::size_t begin, std::size_t end, std::size_t thread) {
        add_rows_to(own_histogram(thread), of_ + begin, end - begin);
    }
    /// At most chunk_size rows.
    void add_rows_to(Entry* histogram, const Row* rows, std::size_t n) const {
        std::array<Entry, chunk_size> entries;
        make_entries(rows, n, entries.data());
        add_columns(cells_, 0, cells_.columns.size(), entries.data(), rows, n, histogram);
    }
    /// Where a thread adds rows up: the first one in the node's histogram itself, if it has the same entries.
    Entry* own_histogram(std::size_t thread) {
        Worker& worker = workers_[thread];
        const bool is_first = !std::exchange(worker.has_added, true);
        if constexpr (is_direct) {
            if (thread == 0) {
                if (is_first && !has_begun_) std::fill_n(histogram_, cells_.histogram_size(), Entry{});
                return histogram_;
            }
        }
        if (is_first) worker.histogram.assign(cells_.histogram_size(), Entry{});
        return worker.histogram.data();
    }
    /// Entries [begin, end) of the histogram from what the threads have added up.
    void add_up(std::size_t begin, std::size_t end) {
        bool is_filled = has_begun_ || (is_direct && workers_[0].has_added);
        for (std::size_t thread = is_direct ? 1 : 0; thread < workers_.size(); ++thread) {
            const Worker& worker = workers_[thread];
            if (!worker.has_added) continue;
            if (!std::exchange(is_filled, true)) std::fill(histogram_ + begin, histogram_ + end, NodeEntry{});
            for (std::size_t i = begin; i < end; ++i) histogram_[i] += unpacked(worker.histogram[i]);
        }
    }
    /// The histograms of the columns [first, last) from entries that are gathered.
    void add_gathered(std::size_t first, std::size_t last, std::size_t thread) {
        const std::size_t begin = cells_.start[first], end = cells_.start[last];
        Entry* const sums = to_fill(histogram_, thread);
        std::fill(sums + begin, sums + end, Entry{});
        add_columns(cells_, first, last, entries_.data(), of_, n_rows_, sums);
        unpack_from(sums, histogram_, begin, end);
    }
    /// Where a thread makes a histogram: in its place, if it has the same entries.
    Entry* to_fill(NodeEntry* histogram, std::size_t thread) {
        if constexpr (is_direct) {
            return histogram;
        } else {
            workers_[thread].histogram.resize(cells_.histogram_size());
            return workers_[thread].histogram.data();
        }
    }
    void unpack_from(const Entry* sums, NodeEntry* histogram, std::size_t begin, std::size_t end) const {
        if constexpr (!is_direct)
            for (std::size_t i = begin; i < end; ++i) histogram[i] = unpacked(sums[i]);
    }
    NodeEntry unpacked(const Entry& entry) const {
        if constexpr (is_direct)
            return entry;
        else
            return Form::unpack(units_, entry);
    }

    const Cells& cells_;
    UnfilledVector<typename Form::RowEntry> rows_;  // gradients and hessians
    std::vector<Entry> entries_;                    // of the rows that are added up, in their order
    std::vector<Worker> workers_;
    Units units_;
    Pool* pool_ = nullptr;
    Interrupt* interrupt_ = nullptr;
    NodeEntry* histogram_ = nullptr;
    const Row* of_ = nullptr;
    std::size_t n_rows_ = 0;
    bool takes_rows_ = true;
    bool has_begun_ = false;  // to fill the histogram
};

}  // namespace treewright::boosting
