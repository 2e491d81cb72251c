// SPDX-License-Identifier: Apache-2.0
// Programs of SPLASH, compiled in copies of their folders by their own makefiles: all of these
// include one file of settings, in whose place there is one that has the macros of parmacs.m4, a
// compiler and what to link.
#pragma once

#include "bench/splash_programs.hpp"
#include "process.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tulle::tool {

// One way to compile a program.
struct splash_variant {
    std::string name;   // of its folder
    arguments compiler; // with its options; for each file and for the link
    arguments link;     // what comes last there
};

// The ways that there are here, and a sentence for what cannot be.
struct splash_variants {
    std::vector<splash_variant> all{};
    std::vector<std::string> absent{};
    [[nodiscard]] bool has(std::string const& name) const;
};

// "pthread": POSIX threads, by `threads`, a source; "tulle": processes that share memory;
// "coherent": by `tulle cc`, so that they may have copies. Or, `with_checks`, "none-O0" and the
// like, with that kind of checks. All by the same clang, where one has a plug-in.
[[nodiscard]] splash_variants variants_of_splash(std::filesystem::path const& threads,
                                                 bool with_checks);

// The kinds of checks, and the levels of optimization.
[[nodiscard]] std::vector<std::string> const& splash_checks();
[[nodiscard]] std::vector<std::string> const& splash_levels();

// A folder of copies, which is gone with it.
class splash_workshop {
public:
    // `additions`: the folder of what is linked to programs besides. Throws failure: there is no
    // m4, no make, or no space.
    splash_workshop(std::filesystem::path suite, std::filesystem::path additions);
    splash_workshop(splash_workshop const&) = delete;
    splash_workshop& operator=(splash_workshop const&) = delete;
    splash_workshop(splash_workshop&&) = delete;
    splash_workshop& operator=(splash_workshop&&) = delete;
    ~splash_workshop();

    [[nodiscard]] bool has(splash_program const& program) const;
    // Without data that the size names there is nothing to compute.
    [[nodiscard]] bool has_data(splash_program const& program, splash_size const& size) const;
    // All at once.
    void build(splash_program const& program, std::vector<splash_variant> const& variants);
    // What was compiled; it is run in its folder. Nothing: it could not be; `why_not` is an error
    // that was printed.
    [[nodiscard]] std::optional<std::filesystem::path>
    executable_of(splash_program const& program, std::string const& variant) const;
    [[nodiscard]] std::string why_not(splash_program const& program,
                                      std::string const& variant) const;
    // No longer needed.
    void clear();

private:
    [[nodiscard]] std::filesystem::path place_of(splash_program const& program,
                                                 std::string const& variant) const;
    void prepare(splash_program const& program, splash_variant const& variant) const;

    std::filesystem::path m_suite;
    std::filesystem::path m_additions;
    std::filesystem::path m_folder;
};

} // namespace tulle::tool
