// A small pool of threads that lives as long as one call, and the way to stop a long call.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/portable.hpp"

namespace treewright {

struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

/// Long work calls `check` often. The thread that made the object asks `poll` every few milliseconds (Python
/// looks for Ctrl-C there); when it answers true, every thread's next `check` throws.
class Interrupt {
  public:
    static constexpr std::chrono::milliseconds period{20};

    explicit Interrupt(std::function<bool()> poll)
        : poll_(std::move(poll)), owner_(std::this_thread::get_id()), last_(Clock::now()) {}

    void check() {
        if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
        if (std::this_thread::get_id() != owner_) return;
        const auto now = Clock::now();
        if (now - last_ < period) return;
        last_ = now;
        if (poll_()) {
            stopped_ = true;
            throw Interrupted();
        }
    }

    /// How far the work is: `expect` says how much there is, `advance` that some of it is done. `poll` may
    /// look.
    void expect(std::size_t all) { expected_ = all; }
    void advance(std::size_t some) { done_.fetch_add(some, std::memory_order_relaxed); }
    double share_done() const {
        const auto all = static_cast<double>(expected_.load());
        return all > 0 ? std::min(1.0, static_cast<double>(done_.load()) / all) : 0.0;
    }

  private:
    using Clock = std::chrono::steady_clock;
    std::function<bool()> poll_;
    std::thread::id owner_;
    Clock::time_point last_;
    std::atomic<bool> stopped_{false};
    std::atomic<std::size_t> expected_{0}, done_{0};
};

/// `run(n, work)` calls work(task, thread) for every task < n on all threads, the caller's included.
///
/// A round is over when its tasks are done: a thread that is late, or that the system does not let run, is
/// not waited for. Threads without a task look for the next round for some microseconds before they sleep,
/// because waking one takes longer than many a round. No thread outlives the pool, so a process may fork
/// before or after.
class Pool {
  public:
    Pool(std::size_t n_threads, Interrupt& interrupt) : interrupt_(interrupt) {
        try {
            for (std::size_t thread = 1; thread < n_threads; ++thread)
                workers_.emplace_back([this, thread] { serve(thread); });
        } catch (const std::exception&) {
            // The system grants no more threads or no memory for them: those there are do the same work.
        }
    }
    ~Pool() {
        closing_ = true;
        wake_all();
        for (auto& worker : workers_) worker.join();
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    std::size_t size() const { return workers_.size() + 1; }

    void run(std::size_t n_tasks, const std::function<void(std::size_t, std::size_t)>& work) {
        if (workers_.empty() || n_tasks < 2) {
            for (std::size_t task = 0; task < n_tasks; ++task) work(task, 0);
            return;
        }
        work_ = &work;
        failure_ = nullptr;
        for (std::size_t first = 0; first < n_tasks && !failure_; first += most_tasks)
            run_round(first, std::min<std::size_t>(most_tasks, n_tasks - first));
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    static constexpr std::uint64_t most_tasks = (std::uint64_t{1} << 32) - 1;  // of a round
    static constexpr int n_looks = 1000;  // before a thread sleeps: about 20 microseconds

    void run_round(std::size_t first, std::size_t n_tasks) {
        end_ = first + n_tasks;
        n_unfinished_ = n_tasks;
        const std::uint64_t round = (open_.load() >> 32) + 1;
        open_ = round << 32 | n_tasks;
        if (n_sleeping_ > 0) wake_all();
        take_tasks(0);
        if (look_for([this] { return n_unfinished_ == 0; })) return;
        std::unique_lock lock(mutex_);
        is_waiting_ = true;
        while (!done_.wait_for(lock, Interrupt::period, [this] { return n_unfinished_ == 0; })) {
            lock.unlock();  // asking Python may take a while
            try {
                interrupt_.check();
            } catch (...) {
                fail();
            }
            lock.lock();
        }
        is_waiting_ = false;
    }

    void serve(std::size_t thread) {
        const auto has_news = [this] { return n_open(open_) > 0 || closing_; };
        while (true) {
            if (!look_for(has_news)) {
                std::unique_lock lock(mutex_);
                ++n_sleeping_;
                wake_.wait(lock, has_news);
                --n_sleeping_;
            }
            if (closing_) return;
            take_tasks(thread);
        }
    }

    /// Whether something comes true soon.
    template <class Condition>
    static bool look_for(const Condition& condition) {
        for (int i = 0; i < n_looks; ++i) {
            if (condition()) return true;
            spin_pause();
        }
        return condition();
    }

    void wake_all() {
        // A thread that is about to sleep holds the lock from its last look until it sleeps.
        {
            const std::lock_guard lock(mutex_);
        }
        wake_.notify_all();
    }

    static std::uint64_t n_open(std::uint64_t state) { return state & most_tasks; }

    /// Whoever has claimed a task keeps the round from ending, so that `work_` and `end_` are those of the
    /// task.
    void take_tasks(std::size_t thread) {
        std::uint64_t state = open_;
        while (n_open(state) > 0) {
            if (!open_.compare_exchange_weak(state, state - 1)) continue;
            try {
                (*work_)(end_ - n_open(state), thread);
            } catch (...) {
                fail();
            }
            finish(1);
            state = open_;
        }
    }
    void finish(std::uint64_t n_tasks) {
        if (n_unfinished_.fetch_sub(n_tasks) > n_tasks || !is_waiting_) return;
        {
            const std::lock_guard lock(mutex_);
        }
        done_.notify_one();
    }
    /// Keeps the exception at hand for the caller, the first of them, and gives out no more tasks.
    void fail() {
        {
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
        std::uint64_t state = open_;
        while (!open_.compare_exchange_weak(state, state - n_open(state))) {
        }
        if (n_open(state) > 0) finish(n_open(state));
    }

    Interrupt& interrupt_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
    std::size_t end_ = 0;  // of the tasks of this round
    // The number of the round, and how many of its tasks nobody has taken.
    alignas(64) std::atomic<std::uint64_t> open_{0};
    alignas(64) std::atomic<std::uint64_t> n_unfinished_{0};
    alignas(64) std::atomic<std::size_t> n_sleeping_{0};
    std::atomic<bool> is_waiting_{false}, closing_{false};
    std::exception_ptr failure_;
};

}  // namespace treewright
