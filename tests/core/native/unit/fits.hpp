// A fixed corpus of fits, each told by a hash of all arrays that it made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fits {

struct Fit {
    std::string name;
    std::uint64_t hash = 0;

    friend bool operator==(const Fit&, const Fit&) = default;
};

std::vector<Fit> make_all();

/// Compares the corpus with the hashes in a file, or writes that file; whether all is well.
bool compare(const std::string& path);
bool save(const std::string& path);

}  // namespace fits
