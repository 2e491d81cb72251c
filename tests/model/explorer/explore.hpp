// SPDX-License-Identifier: Apache-2.0
//
// The entry to model tests: explore() runs a body under many schedules and stale reads and reports
// the first failure with the token that replays it; weaken_each() asks whether the same test would
// notice each memory order being wrong.
// How to write a test: ../README.md.
#pragma once

#include "atomic.hpp"
#include "execution.hpp"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::model {

enum class search {
    random,    // `executions` seeded ones
    exhaustive // depth first, all that `preemptions` allows, or `executions`
};

struct options {
    search how = search::random;
    std::size_t executions = 20000;
    unsigned preemptions = 2; // exhaustive only
    std::uint64_t seed = 1;   // random only
    limits limit;
    bool expect_failure = false;            // a planted error: nothing is printed
    bool (*weakens)(site const&) = nullptr; // weaken_each only; null: every order
    // A token: runs this one execution; as the environment variable TULLE_MODEL_SEED does.
    std::string replay;
};

/// The two searches that most tests choose from.
[[nodiscard]] inline options random(std::size_t executions) {
    options o;
    o.executions = executions;
    return o;
}
[[nodiscard]] inline options exhaustive(unsigned preemptions, std::size_t executions) {
    options o;
    o.how = search::exhaustive;
    o.preemptions = preemptions;
    o.executions = executions;
    return o;
}

/// For code that needs no heavy fence, or does without it on kernels that have none.
[[nodiscard]] inline options without_heavy_fence(options o) {
    o.limit.has_heavy_fence = false;
    return o;
}

struct result {
    bool failed = false;
    bool complete = false; // an exhaustive search visited everything within its bounds
    bool sampled = false;  // a build with a sanitizer may do fewer executions than asked for
    std::size_t executions = 0;
    std::string message; // of the failure
    std::string token;   // <name>:<choices>
    std::string trace;   // the failed execution, step by step

    [[nodiscard]] bool passed() const noexcept { return !failed; }
    [[nodiscard]] bool is_as_complete_as_asked() const noexcept { return complete || sampled; }
};
/// What gtest prints: the message, the trace, and TULLE_MODEL_SEED=<token>.
std::ostream& operator<<(std::ostream& out, result const& r);

/// Runs until the first failure. `name` must be unique in the program: it tells whose a token is.
[[nodiscard]] result explore(std::string_view name, options const& o, test_body const& body);

struct mutant {
    mutation change;
    result outcome;
};
/// Explores the body once per weakened order. Those that still pass are either stronger than needed
/// or not tested. Throws if the body fails with no order weakened: then no mutant would say
/// anything.
[[nodiscard]] std::vector<mutant> weaken_each(std::string_view name, options const& o,
                                              test_body const& body);
/// Of several bodies over the same code: a mutant that one of them misses may be found by another.
[[nodiscard]] std::vector<mutant> found_by_any(std::vector<mutant> first,
                                               std::vector<mutant> const& second);
/// The survivors, one per line; empty if every mutant failed.
[[nodiscard]] std::string survivors(std::vector<mutant> const& mutants);

} // namespace tulle::model
