// Tests of the core in C++: core_tests [PART OF A NAME]
#include "harness.hpp"

int main(int n_arguments, char** arguments) {
    return harness::run_tests(n_arguments > 1 ? arguments[1] : "") == 0 ? 0 : 1;
}
