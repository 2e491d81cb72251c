// SPDX-License-Identifier: Apache-2.0
// A program some of whose places have memory only, as its first argument says. Driven by
// memory_places_test.py.
#include <tulle/tulle.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace {

constexpr std::size_t k_words = 100'000;

// Each place that runs threads keeps a part of an array in the memory of places that do not.
bool keeps() {
    bool is_right = true;
    for (tulle::place const there : tulle::memory_places()) {
        auto const words = tulle::allocate_global_at<long>(there, k_words);
        auto const sum = tulle::allocate_global_at<long>(there);
        sum.store(0);
        tulle::finish([&](tulle::activities& all) {
            for (tulle::place const p : tulle::places())
                all.async_at(
                    p,
                    [](auto w, auto s) {
                        auto const part = static_cast<long>(k_words) / tulle::place_count();
                        long const first = part * tulle::here().index();
                        std::vector<long> own(static_cast<std::size_t>(part));
                        std::iota(own.begin(), own.end(), first);
                        tulle::write(std::span<long const>(own), w + first);
                        tulle::team().barrier();
                        std::vector<long> back(own.size());
                        tulle::read(w + first, std::span<long>(back));
                        tulle::fetch_add(s, back == own ? 1 : 1'000'000);
                    },
                    words, sum);
        });
        is_right = is_right && sum.load() == tulle::place_count();
    }
    return is_right;
}

// Full/empty words whose home is such a place, between the others.
bool hands_over() {
    auto const box = tulle::allocate_global_at<long>(tulle::place(tulle::place_count()));
    tulle::feb::empty(box);
    long sum = 0;
    tulle::finish([&](tulle::activities& all) {
        for (tulle::place const p : tulle::places())
            all.async_at(
                p, [](auto b) { tulle::feb::write_ef(b, tulle::here().index() + 1L); }, box);
        for (int k = 0; k < tulle::place_count(); ++k) sum += tulle::feb::read_fe(box);
    });
    long const n = tulle::place_count();
    return sum == n * (n + 1) / 2;
}

// Activities that may run anywhere, counted by where they have run.
bool spreads() {
    int const all_places = tulle::place_count() + tulle::memory_places().size();
    auto const ran = tulle::allocate_global_at<long>(tulle::place(tulle::place_count()),
                                                     static_cast<std::size_t>(all_places));
    for (int p = 0; p < all_places; ++p) (ran + p).store(0);
    tulle::finish([&](tulle::activities& all) {
        for (int k = 0; k < 1000; ++k)
            all.async_any([](auto r) { tulle::fetch_add(r + tulle::here().index(), 1); }, ran);
    });
    long sum = 0;
    for (int p = 0; p < tulle::place_count(); ++p) sum += (ran + p).load();
    return sum == 1000;
}

bool refuses() {
    tulle::place const there(tulle::place_count());
    auto later = tulle::async_at(there, [] { std::puts("it runs"); });
    try {
        tulle::at(there, [] { std::puts("it runs"); });
    } catch (std::system_error const&) {
        std::puts("at is refused");
    }
    try {
        later.get();
    } catch (std::system_error const& e) {
        std::puts(e.what());
        return e.code() == std::errc::operation_not_supported;
    }
    return false;
}

} // namespace

int main(int argc, char** argv) {
    std::string const how = argc > 1 ? argv[1] : "";
    if (how == "begins") std::printf("begins\n"); // at each place
    tulle::initialize();
    if (how == "begins") std::printf("goes on\n");
    if (how == "counts")
        std::printf("%d and %d\n", tulle::place_count(), tulle::memory_places().size());
    bool const is_right = (how != "keeps" || keeps()) && (how != "hands-over" || hands_over()) &&
                          (how != "spreads" || spreads()) && (how != "refuses" || refuses());
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
