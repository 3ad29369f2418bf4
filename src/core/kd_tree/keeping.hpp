// What a search keeps of the points it meets. Nearer comes first, then the lower index: the order in which
// points are met changes nothing.
//
// `limit` is the greatest sum that is still of interest, `reach` the same for sums that may be rounded
// otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace treewright {

struct Candidate {
    double sum;
    std::uint32_t index;

    friend bool operator<(const Candidate& a, const Candidate& b) {
        return a.sum < b.sum || (a.sum == b.sum && a.index < b.index);
    }
    friend bool operator==(const Candidate&, const Candidate&) = default;
};

class Limit {
  public:
    explicit Limit(double slack) : slack_(slack) {}
    double limit() const { return limit_; }
    double reach() const { return reach_; }

  protected:
    void set(double limit) {
        limit_ = limit;
        reach_ = limit + (limit * slack_ + std::numeric_limits<double>::min());
    }

  private:
    double slack_;
    double limit_ = std::numeric_limits<double>::infinity();
    double reach_ = std::numeric_limits<double>::infinity();
};

class NearestOne : public Limit {
  public:
    NearestOne(std::size_t, double slack) : Limit(slack) {}
    void begin() {
        best_ = {std::numeric_limits<double>::infinity(), std::numeric_limits<std::uint32_t>::max()};
        set(best_.sum);
    }
    void offer(const Candidate& candidate) {
        if (!(candidate < best_)) return;
        best_ = candidate;
        set(best_.sum);
    }
    const Candidate* in_order() { return &best_; }

  private:
    Candidate best_{};
};

/// Kept in order: a few.
class NearestFew : public Limit {
  public:
    static constexpr std::size_t few = 48;

    NearestFew(std::size_t k, double slack) : Limit(slack), best_(k) {}
    void begin() {
        n_ = 0;
        set(std::numeric_limits<double>::infinity());
    }
    void offer(const Candidate& candidate) {
        const std::size_t k = best_.size();
        if (n_ == k) {
            if (!(candidate < best_[k - 1])) return;
        } else {
            ++n_;
        }
        std::size_t place = n_ - 1;
        for (; place > 0 && candidate < best_[place - 1]; --place) best_[place] = best_[place - 1];
        best_[place] = candidate;
        if (n_ == k) set(best_[k - 1].sum);
    }
    const Candidate* in_order() { return best_.data(); }

  private:
    std::vector<Candidate> best_;
    std::size_t n_ = 0;
};

/// Kept in a heap: many.
class NearestMany : public Limit {
  public:
    NearestMany(std::size_t k, double slack) : Limit(slack), k_(k) { best_.reserve(k); }
    void begin() {
        best_.clear();
        set(std::numeric_limits<double>::infinity());
    }
    void offer(const Candidate& candidate) {
        if (best_.size() == k_) {
            if (!(candidate < best_.front())) return;
            std::pop_heap(best_.begin(), best_.end());
            best_.back() = candidate;
        } else {
            best_.push_back(candidate);
        }
        std::push_heap(best_.begin(), best_.end());
        if (best_.size() == k_) set(best_.front().sum);
    }
    const Candidate* in_order() {
        std::sort_heap(best_.begin(), best_.end());
        return best_.data();
    }

  private:
    std::size_t k_;
    std::vector<Candidate> best_;
};

/// All within a limit, one query's after the other's.
class AllWithin : public Limit {
  public:
    explicit AllWithin(double slack) : Limit(slack) {}
    void begin(double limit) { set(limit); }
    void offer(const Candidate& candidate) { found.push_back(candidate); }
    std::size_t size() const { return found.size(); }

    std::vector<Candidate> found;
};

/// How many are within a limit, all queries together.
class CountWithin : public Limit {
  public:
    explicit CountWithin(double slack) : Limit(slack) {}
    void begin(double limit) { set(limit); }
    void offer(const Candidate&) { ++n_; }
    std::size_t size() const { return n_; }

  private:
    std::size_t n_ = 0;
};

}  // namespace treewright
