// Tests of the core in C++: core_tests [PART OF A NAME]
// The corpus of fits:       core_tests --fits FILE, core_tests --save-fits FILE
#include <string>

#include "fits.hpp"
#include "harness.hpp"

int main(int n_arguments, char** arguments) {
    const std::string first = n_arguments > 1 ? arguments[1] : "";
    if (n_arguments == 3 && first == "--fits") return fits::compare(arguments[2]) ? 0 : 1;
    if (n_arguments == 3 && first == "--save-fits") return fits::save(arguments[2]) ? 0 : 1;
    return harness::run_tests(first) == 0 ? 0 : 1;
}
