// A small harness for tests of the core: TEST("what holds") { CHECK(…); CHECK_EQUAL(…, …); }
//
// A check that fails is printed with its values and the test goes on; an exception ends the test.
#pragma once

#include <functional>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

namespace harness {

struct Test {
    std::string name;
    std::function<void()> run;
};

/// All tests that enlisted themselves.
inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

struct Enlist {
    Enlist(std::string name, std::function<void()> run) {
        tests().push_back({std::move(name), std::move(run)});
    }
};

/// Checks that failed so far.
inline int n_failed = 0;

inline std::ostream& fail(const char* file, int line) {
    ++n_failed;
    return std::cerr << file << ':' << line << ": ";
}

template <class T>
void print(std::ostream& out, const T& value) {
    if constexpr (requires { out << value; })
        out << value;
    else
        out << "a value that cannot be printed";
}

template <class A, class B>
void check_equal(const A& a, const B& b, const char* text, const char* file, int line) {
    if (a == b) return;
    std::ostream& out = fail(file, line);
    const auto digits = out.precision(std::numeric_limits<double>::max_digits10);
    print(out << text << ": ", a);
    print(out << " is not ", b);
    out << '\n';
    out.precision(digits);
}

/// Runs the tests whose name contains `part`; the number of checks that failed.
inline int run_tests(const std::string& part) {
    int n_run = 0;
    for (const auto& test : tests()) {
        if (test.name.find(part) == std::string::npos) continue;
        const int before = n_failed;
        try {
            test.run();
        } catch (const std::exception& error) {
            fail(test.name.c_str(), 0) << "unexpected exception: " << error.what() << '\n';
        }
        ++n_run;
        if (n_failed > before) std::cerr << "FAILED: " << test.name << '\n';
    }
    std::cout << n_run << " tests, " << n_failed << " failed checks\n";
    return n_failed;
}

}  // namespace harness

#define HARNESS_JOIN_(a, b) a##b
#define HARNESS_JOIN(a, b) HARNESS_JOIN_(a, b)
#define TEST(name)                                                                                     \
    static void HARNESS_JOIN(test_, __LINE__)();                                                       \
    static const harness::Enlist HARNESS_JOIN(enlist_, __LINE__)(name, HARNESS_JOIN(test_, __LINE__)); \
    static void HARNESS_JOIN(test_, __LINE__)()
#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) harness::fail(__FILE__, __LINE__) << #condition << '\n'; \
    } while (false)
#define CHECK_EQUAL(a, b) harness::check_equal(a, b, #a " == " #b, __FILE__, __LINE__)
#define CHECK_THROWS(Exception, expression)                                                         \
    do {                                                                                            \
        try {                                                                                       \
            static_cast<void>(expression);                                                          \
            harness::fail(__FILE__, __LINE__) << #expression " does not throw " #Exception << '\n'; \
        } catch (const Exception&) {                                                                \
        }                                                                                           \
    } while (false)
