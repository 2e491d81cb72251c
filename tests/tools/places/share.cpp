// SPDX-License-Identifier: Apache-2.0
// A program whose places share work, as its first argument says. Prints what came out, and how many
// places took part. Driven by shared_work_test.py.
#include <tulle/tulle.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

// The sanitizer of threads does not see how the C++ library counts the owners of an exception and
// of its message, the last of which may be the thread that threw it: what print_exception() has
// read is freed by that one then.
extern "C" char const* __tsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" char const* __tsan_default_suppressions() { // NOLINT(bugprone-reserved-identifier)
    return "race:std::runtime_error::~runtime_error\nrace:std::logic_error::~logic_error\n"
           "race:print_exception\n";
}

namespace {

using word = tulle::global_ptr<std::uint64_t>;

struct leaves {
    long count = 0;
    std::uint64_t places = 0; // bits
};
leaves operator+(leaves const& a, leaves const& b) {
    return {a.count + b.count, a.places | b.places};
}

std::uint64_t this_place() {
    return std::uint64_t{1} << static_cast<unsigned>(tulle::here().index());
}

leaves count_leaves(int depth) {
    if (depth == 0) return {1, this_place()};
    auto older = tulle::global_fork<&count_leaves>(depth - 1);
    leaves const younger = count_leaves(depth - 1);
    return older.join() + younger;
}

// Until each place has done some; one that never does hangs.
int forks() {
    leaves all;
    do {
        leaves const one = count_leaves(16);
        if (one.count != 1L << 16) return EXIT_FAILURE;
        all = all + one;
    } while (std::popcount(all.places) != tulle::place_count());
    std::printf("%d places\n", std::popcount(all.places));
    return EXIT_SUCCESS;
}

// A tree whose nodes fork some children and join them in any order; which, is in the seed.
long walk(std::uint32_t seed, int depth) {
    if (depth == 0) return 1;
    using child = tulle::global_child<tulle::detail::global_function<&walk>, std::uint32_t, int>;
    std::minstd_rand random(seed);
    std::vector<std::unique_ptr<child>> children(random() % 5);
    for (auto& c : children)
        c = std::make_unique<child>(static_cast<std::uint32_t>(random()), depth - 1);
    std::shuffle(children.begin(), children.end(), random);
    long sum = 1;
    for (auto& c : children) sum += c->join();
    return sum;
}
long walk_alone(std::uint32_t seed, int depth) {
    if (depth == 0) return 1;
    std::minstd_rand random(seed);
    std::vector<std::uint32_t> children(random() % 5);
    for (auto& c : children) c = static_cast<std::uint32_t>(random());
    long sum = 1;
    for (auto const c : children) sum += walk_alone(c, depth - 1);
    return sum;
}
int walks() {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        if (walk(seed, 9) == walk_alone(seed, 9)) continue;
        std::printf("seed %u\n", seed);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

struct odd_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
int fail(word begun, int how) {
    tulle::fetch_add(begun, 1);
    if (how == 0) throw std::out_of_range("far");
    throw odd_error(std::string(static_cast<std::size_t>(how), 'x'));
}

[[gnu::noinline]] void print_exception(std::exception const& e) {
    bool const is_far = dynamic_cast<std::out_of_range const*>(&e) != nullptr;
    std::printf("%s %.3s\n", is_far ? "out of range" : "other", e.what());
}

// What is thrown where a record was stolen to.
int throws() {
    word const begun = tulle::allocate_global_cleared<std::uint64_t>();
    for (int const how : {0, 3, 100'000}) {
        begun.store(0);
        auto child = tulle::global_fork<&fail>(begun, how);
        while (tulle::fetch_add(begun, 0) == 0) tulle::this_thread::yield();
        try {
            std::printf("%d\n", child.join());
        } catch (std::exception const& e) {
            print_exception(e);
        }
    }
    tulle::free_global(begun);
    return EXIT_SUCCESS;
}

void visit(word nodes, word places, int depth) {
    tulle::fetch_add(nodes, 1);
    for (auto seen = tulle::fetch_add(places, 0);
         (seen & this_place()) == 0 &&
         !tulle::compare_exchange(places, seen, seen | this_place());) {}
    for (int k = 0; depth != 0 && k < 6; ++k)
        tulle::this_activity::async_any([](word n, word p, int d) { visit(n, p, d); }, nodes,
                                        places, depth - 1);
}

int activities() {
    word const nodes = tulle::allocate_global_cleared<std::uint64_t>(2);
    for (int rounds = 1;; ++rounds) {
        tulle::finish([nodes] { visit(nodes, nodes + 1, 5); });
        if (nodes.load() != static_cast<std::uint64_t>(rounds) * 9331) return EXIT_FAILURE;
        if (std::popcount((nodes + 1).load()) == tulle::place_count()) break;
    }
    std::printf("%d places\n", std::popcount((nodes + 1).load()));
    return EXIT_SUCCESS;
}

// Then nothing is left to be done, until the input ends.
int rests() {
    if (forks() != EXIT_SUCCESS || activities() != EXIT_SUCCESS) return EXIT_FAILURE;
    std::printf("ready\n");
    std::fflush(stdout);
    std::cin.get();
    return forks();
}

int run(std::string const& how) {
    static std::map<std::string, int (*)()> const s_all{{"forks", &forks},
                                                        {"walks", &walks},
                                                        {"throws", &throws},
                                                        {"activities", &activities},
                                                        {"rests", &rests}};
    tulle::initialize();
    return s_all.at(how)();
}

} // namespace

int main(int argc, char** argv) { return argc < 2 ? EXIT_FAILURE : run(argv[1]); }
