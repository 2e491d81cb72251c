// SPDX-License-Identifier: Apache-2.0
#include "compat/tnt/placement.hpp"

#include <tnt.h>
#include <tulle/mutex.hpp>
#include <tulle/place.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <vector>

namespace tulle::tnt {

namespace {

constexpr std::array<char const*, 4> k_names{"round_robin", "random", "least_loaded",
                                             "two_choices"};

int policy_at_start() {
    char const* const text = ::secure_getenv("TNT_PLACEMENT");
    for (std::size_t k = 0; text != nullptr && k < k_names.size(); ++k)
        if (std::strcmp(text, k_names[k]) == 0) return static_cast<int>(k);
    return TNT_ROUND_ROBIN;
}

std::atomic<int>& policy() {
    static std::atomic<int> s_policy{policy_at_start()};
    return s_policy;
}

std::atomic<unsigned> s_turn{0};

int random_node() {
    thread_local std::minstd_rand t_random{std::random_device{}()};
    return static_cast<int>(t_random() % static_cast<unsigned>(place_count()));
}

// At node 0: threads of each node.
tulle::mutex s_lock;
std::vector<int> s_threads;

int least_loaded_of(int a, int b) {
    std::lock_guard const held(s_lock);
    if (s_threads.empty()) s_threads.resize(static_cast<std::size_t>(place_count()));
    auto const begin = s_threads.begin();
    int const best = a == b ? static_cast<int>(std::min_element(begin, s_threads.end()) - begin)
                            : (begin[b] < begin[a] ? b : a);
    ++begin[best];
    return best;
}
void fewer_at(int node, int ends) {
    std::lock_guard const held(s_lock);
    s_threads[static_cast<std::size_t>(node)] -= ends;
}

// Of each node: ends that node 0 has not been told of. Never destroyed, as threads may outlive
// static objects.
std::vector<std::atomic<int>>& untold() {
    static auto* const s_untold =
        new std::vector<std::atomic<int>>(static_cast<std::size_t>(place_count()));
    return *s_untold;
}

// Of all if both are the same.
int ask_table(int a, int b) {
    expect_ends();
    return at(
        place(0), [](int x, int y) { return least_loaded_of(x, y); }, a, b);
}

} // namespace

chosen_node choose_node() {
    switch (policy().load(std::memory_order_relaxed)) { // relaxed: it publishes nothing
        case TNT_RANDOM: return {random_node(), false};
        case TNT_LEAST_LOADED: return {ask_table(0, 0), true};
        case TNT_TWO_CHOICES: {
            if (place_count() == 1) return {0, false};
            int const a = random_node();
            int const step = 1 + random_node() % (place_count() - 1);
            return {ask_table(a, (a + step) % place_count()), true};
        }
        default: // relaxed: a number of each its own
            return {static_cast<int>(s_turn.fetch_add(1, std::memory_order_relaxed) %
                                     static_cast<unsigned>(place_count())),
                    false};
    }
}

void expect_ends() { static_cast<void>(untold()); }

void tell_end(int node) noexcept {
    auto& count = untold()[static_cast<std::size_t>(node)];
    // relaxed, both: a count, which publishes nothing
    int const ends = count.exchange(0, std::memory_order_relaxed) + 1;
    try {
        at(
            place(0), [](int n, int m) { fewer_at(n, m); }, node, ends);
    } catch (...) {
        count.fetch_add(ends, std::memory_order_relaxed);
    }
}

} // namespace tulle::tnt

using namespace tulle::tnt;

int tnt_set_placement(int wanted) {
    if (wanted < TNT_ROUND_ROBIN || wanted > TNT_TWO_CHOICES) return EINVAL;
    policy().store(wanted, std::memory_order_relaxed); // relaxed: it publishes nothing
    return 0;
}

// relaxed: it publishes nothing
int tnt_placement(void) { return policy().load(std::memory_order_relaxed); }
