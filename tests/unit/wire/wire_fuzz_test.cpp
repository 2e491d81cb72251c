// SPDX-License-Identifier: Apache-2.0
// Random graphs come out as they went in; random changes of their bytes end in a value or in
// wire_error. TULLE_TEST_SEED repeats the first graph of a test, TULLE_TEST_ROUNDS says how many.
#include "stress.hpp"
#include "wired_graph.hpp"

#include <tulle/wire.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace {

using wired::edge;
using graph_bytes = std::vector<std::byte>;

std::uint64_t fuzz_rounds(std::uint64_t otherwise) {
    return from_environment("TULLE_TEST_ROUNDS", otherwise);
}

graph_bytes bytes_of_graph(std::vector<edge> const& roots) {
    tulle::wire_writer out;
    out.put(roots);
    return {out.data(), out.data() + out.size()};
}

// Runs `body(seed of the round)`; a failure says how to repeat it.
template <class F> void for_random_graphs(std::uint64_t rounds, F body) {
    std::uint64_t const first = seed();
    for (std::uint64_t k = 0; k < fuzz_rounds(rounds); ++k) {
        SCOPED_TRACE("TULLE_TEST_SEED=" + std::to_string(first + k) + " TULLE_TEST_ROUNDS=1");
        body(first + k);
        if (testing::Test::HasFailure()) return;
    }
}

TEST(wire_fuzz, random_graphs_come_out_as_they_went_in) {
    print_seed("wire_fuzz.random_graphs_come_out_as_they_went_in");
    std::size_t vertices = 0;
    for_random_graphs(200, [&vertices](std::uint64_t round) {
        wired::random_graph const sent(round);
        graph_bytes const bytes = bytes_of_graph(sent.roots);
        vertices += bytes.size();
        tulle::wire_reader in(bytes);
        std::vector<edge> got = in.get<std::vector<edge>>();
        EXPECT_EQ(in.left(), 0U);
        EXPECT_EQ(wired::comparison::difference(sent.roots, got), "");
        wired::end_of_graph::take_apart(std::move(got));
    });
    EXPECT_GT(vertices, 0U);
}

TEST(wire_fuzz, the_comparison_sees_changes) {
    // Else the test above could not fail.
    auto const a = std::make_shared<wired::vertex>();
    auto const b = std::make_shared<wired::vertex>();
    auto const c = std::make_shared<wired::vertex>();
    a->edges = {b, b};
    std::vector<edge> const left{a};
    auto const d = std::make_shared<wired::vertex>();
    d->edges = {b, c};
    EXPECT_EQ(wired::comparison::difference(left, {d}), "edges"); // not shared
    d->edges = {d, d};
    EXPECT_EQ(wired::comparison::difference(left, {d}), "edges"); // a cycle
    d->edges = {b};
    EXPECT_EQ(wired::comparison::difference(left, {d}), "number of edges");
    d->edges = {c, c};
    EXPECT_EQ(wired::comparison::difference(left, {d}), "");
    c->label = 1;
    EXPECT_EQ(wired::comparison::difference(left, {d}), "label");
    d->edges.clear();
}

// --- changed bytes -------------------------------------------------------------------------------

void change_some(graph_bytes& bytes, tulle::base::rng& random) {
    auto const any = [&] { return random.below(static_cast<std::uint32_t>(bytes.size())); };
    for (std::uint32_t k = 1 + random.below(4); k != 0 && !bytes.empty(); --k) {
        auto const at = bytes.begin() + any();
        switch (random.below(7)) {
            case 0: *at = static_cast<std::byte>(random.next()); break;
            case 1: *at ^= static_cast<std::byte>(1U << random.below(8)); break;
            case 2:
                *at = static_cast<std::byte>(random.below(8));
                break; // a mention, or nearly one
            case 3: *at = std::byte{255}; break;
            case 4:
                bytes.erase(at,
                            at + 1 + random.below(static_cast<std::uint32_t>(bytes.end() - at)));
                break;
            case 5: bytes.insert(at, static_cast<std::byte>(random.below(8))); break;
            default: bytes.resize(any()); break;
        }
    }
}

// In a block of just that size, so that a sanitizer sees who reads more.
bool reads_changed(graph_bytes const& changed) {
    graph_bytes const exact(changed);
    tulle::wire_reader in(exact);
    std::vector<edge> got;
    try {
        got = in.get<std::vector<edge>>();
    } catch (tulle::wire_error const&) {
        return false;
    }
    bytes_of_graph(got); // all of it can be walked over
    wired::end_of_graph::take_apart(std::move(got));
    return true;
}

TEST(wire_fuzz, changed_bytes_make_a_value_or_an_error) {
    print_seed("wire_fuzz.changed_bytes_make_a_value_or_an_error");
    std::uint64_t refused = 0;
    std::uint64_t read = 0;
    for_random_graphs(100, [&](std::uint64_t round) {
        wired::random_graph const sent(round);
        graph_bytes const bytes = bytes_of_graph(sent.roots);
        tulle::base::rng random(round);
        for (int k = 0; k < 40; ++k) {
            graph_bytes changed = bytes;
            change_some(changed, random);
            ++(reads_changed(changed) ? read : refused);
        }
    });
    if (fuzz_rounds(100) < 100) return;
    EXPECT_GT(refused, 500U);
    EXPECT_GT(read, 50U);
}

TEST(wire_fuzz, bytes_that_are_cut_off_are_refused) {
    for_random_graphs(10, [](std::uint64_t round) {
        wired::random_graph const sent(round);
        graph_bytes const bytes = bytes_of_graph(sent.roots);
        for (std::size_t size = 0; size < std::min<std::size_t>(bytes.size(), 600); ++size)
            EXPECT_FALSE(reads_changed({bytes.begin(), bytes.begin() + static_cast<long>(size)}));
    });
}

} // namespace
