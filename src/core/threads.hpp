// A small pool of threads that lives as long as one call, and the way to stop a long call.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

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
/// No thread outlives the pool, so a process may fork before or after.
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
        {
            std::lock_guard lock(mutex_);
            closing_ = true;
        }
        wake_.notify_all();
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
        {
            std::lock_guard lock(mutex_);
            work_ = &work;
            n_tasks_ = n_tasks;
            next_ = 0;
            busy_ = workers_.size();
            failure_ = nullptr;
            ++round_;
        }
        wake_.notify_all();
        take_tasks(0);
        std::unique_lock lock(mutex_);
        while (!done_.wait_for(lock, Interrupt::period, [this] { return busy_ == 0; })) {
            lock.unlock();  // asking Python may take a while
            try {
                interrupt_.check();
            } catch (...) {
                fail();
            }
            lock.lock();
        }
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void serve(std::size_t thread) {
        std::size_t seen = 0;
        while (true) {
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return closing_ || round_ != seen; });
                if (closing_) return;
                seen = round_;
            }
            take_tasks(thread);
            std::lock_guard lock(mutex_);
            if (--busy_ == 0) done_.notify_one();
        }
    }

    void take_tasks(std::size_t thread) {
        try {
            for (std::size_t task; (task = next_.fetch_add(1)) < n_tasks_;) (*work_)(task, thread);
        } catch (...) {
            fail();
        }
    }
    /// Keeps the exception at hand for the caller, the first of them, and gives out no more tasks.
    void fail() {
        next_ = n_tasks_;
        std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }

    Interrupt& interrupt_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
    std::size_t n_tasks_ = 0, busy_ = 0, round_ = 0;
    std::atomic<std::size_t> next_{0};
    std::exception_ptr failure_;
    bool closing_ = false;
};

}  // namespace treewright
