// SPDX-License-Identifier: Apache-2.0
// A program whose places use global memory, as its first argument says. Driven by
// global_memory_test.py.
#include <tulle/tulle.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace {

constexpr int k_adds = 20'000;

template <class F, class... A> void everywhere(F f, A const&... arguments) {
    tulle::finish([&](tulle::activities& all) {
        for (tulle::place const p : tulle::places()) all.async_at(p, f, arguments...);
    });
}

// All places add to one word, by loads and stores of their own processors.
bool adds() {
    auto const word = tulle::allocate_global_at<long>(tulle::place(tulle::place_count() - 1));
    word.store(0);
    everywhere(
        [](auto w) {
            for (int k = 0; k < k_adds; ++k) tulle::fetch_add(w, 1);
        },
        word);
    bool const is_right = word.load() == long{k_adds} * tulle::place_count();
    tulle::free_global(word);
    return is_right;
}

// Whoever is asked for the address reaches it, and it is the same one.
bool reaches() {
    auto const text = tulle::allocate_global<char>(64);
    std::strcpy(text.local(), "from place 0");
    for (tulle::place const p : tulle::places())
        if (!tulle::at(
                p,
                [](auto t) {
                    return t.local() != nullptr && std::strcmp(t.local(), "from place 0") == 0;
                },
                text))
            return false;
    tulle::free_global(text);
    return true;
}

// A range that lies at all places.
bool spans() {
    // Of a segment of 2 MiB: with TULLE_GLOBAL_MEMORY of as many.
    std::size_t const half = std::size_t{3} << 19U;
    auto const all = tulle::allocate_global<unsigned>(
        half / sizeof(unsigned) * static_cast<std::size_t>(tulle::place_count()));
    std::vector<unsigned> numbers(half / sizeof(unsigned) *
                                  static_cast<std::size_t>(tulle::place_count()));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<unsigned>(i * 2654435761U);
    tulle::write(std::span<unsigned const>(numbers), all);
    bool const is_right = tulle::at(
        tulle::place(tulle::place_count() - 1),
        [](auto from, std::size_t n) {
            std::vector<unsigned> got(n);
            tulle::read(from, std::span(got));
            for (std::size_t i = 0; i < n; ++i)
                if (got[i] != static_cast<unsigned>(i * 2654435761U)) return false;
            return true;
        },
        all, numbers.size());
    tulle::free_global(all);
    return is_right;
}

bool array() {
    auto numbers = tulle::global_array<long>::allocate(10'007, 16);
    numbers.for_each([](std::size_t i, long& element) {
        element = static_cast<long>(i) * 100 + tulle::here().index();
    });
    bool is_right = true;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        is_right =
            is_right && numbers.get(i) == static_cast<long>(i) * 100 +
                                              static_cast<long>(i / 16) % tulle::place_count();
    numbers.free();
    return is_right && tulle::global_allocations().empty();
}

bool leaves() {
    for (tulle::place const p : tulle::places())
        tulle::at(p, [] {
            static_cast<void>(tulle::allocate_global<char>(
                100 + static_cast<std::size_t>(tulle::here().index())));
        });
    return tulle::global_allocations().size() == static_cast<std::size_t>(tulle::place_count());
}

bool exhausts() {
    try {
        for (;;) static_cast<void>(tulle::allocate_global<char>(1U << 20U));
    } catch (tulle::out_of_global_memory const& e) {
        std::printf("%zu: %s\n", tulle::global_allocations().size(), e.what());
    }
    return true;
}

// ThreadSanitizer refuses to map what it does not leave to programs.
#if defined(__SANITIZE_THREAD__)
constexpr std::array k_usual_addresses{std::uintptr_t{0x10} << 32U};
#else
constexpr std::array k_usual_addresses{std::uintptr_t{0x2000} << 32U, std::uintptr_t{0x10} << 32U};
#endif

// Something else lies where global memory should be: with one place it lies elsewhere then.
bool is_taken() {
    for (std::uintptr_t const low : k_usual_addresses)
        mmap(reinterpret_cast<void*>(low), 4096, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    try {
        static_cast<void>(tulle::allocate_global<char>(1));
    } catch (std::system_error const& e) {
        std::printf("%s\n", e.what());
        return true;
    }
    std::printf("mapped elsewhere\n");
    return tulle::place_count() == 1;
}

} // namespace

int main(int argc, char** argv) {
    static std::map<std::string, bool (*)()> const s_all{
        {"adds", &adds},     {"reaches", &reaches},   {"spans", &spans},       {"array", &array},
        {"leaves", &leaves}, {"exhausts", &exhausts}, {"is-taken", &is_taken},
    };
    if (argc < 2) return EXIT_FAILURE;
    tulle::initialize();
    return s_all.at(argv[1])() ? EXIT_SUCCESS : EXIT_FAILURE;
}
