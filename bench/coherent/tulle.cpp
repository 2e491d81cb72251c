// SPDX-License-Identifier: Apache-2.0
// coherent: what it takes to keep copies of two places alike, each of which is a host for the
// protocol. n bytes of memory; units of the default size.
//   ns miss                          a load from each fourth unit of 16 MiB that another has
//                                    written, in no order
//   ns copy                          the same units, copied by memcpy out of memory that both have,
//                                    which is the least that a miss can take
//   GB/s read                        of what another has written, in long runs
//   GB/s write at home, write away   until another may read it
//   us barrier, 1 MiB at home, away  both have written as much since the last one: each what it is
//                                    the home of, or what the other one is; "one home": one of them
//                                    is the home of both. From when the last one comes to when both
//                                    have gone on
//   ns counter alone, contended      lock, increment, unlock: by one place, by both. Of a lock that
//                                    both want all the time; with LOCK of PARMACS: process-lock
//   ns at                            an empty call at the other place, to compare misses with
// Times of misses and runs contain those of the checks' slow paths. One run comes ahead of those
// that count, so that the system has given the pages that copies, twins and logs take. On two hosts
// there are no barriers and counters, as these go by memory that both have.
#include "../common/checked_access.hpp"
#include "../common/harness.hpp"
#include "../common/places.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <tulle/c/coherent_memory.h>
#include <tulle/c/global_memory.h>
#include <tulle/coherent_abi.h>
#include <tulle/tulle.hpp>

namespace tulle::bench {

namespace {

constexpr std::uint64_t k_unit = 256; // the default of coherent_unit
constexpr std::uint64_t k_run = 64 * 1024;
constexpr std::uint64_t k_part = 1024 * 1024;        // of each place between barriers
constexpr std::uint64_t k_misses = 16 * 1024 * 1024; // where single units are loaded
constexpr long k_turns = 20'000;
constexpr int k_calls = 200;
constexpr std::size_t k_barriers = 50; // of one kind in a run

using clock = std::chrono::steady_clock; // one for all processes

// In memory that both have.
struct synchronisers {
    std::atomic<std::uint32_t> lock;
    alignas(64) std::atomic<std::uint32_t> arrived;
    alignas(64) std::array<std::array<clock::time_point, k_barriers>, 2> came, went; // by places
};

struct memories {
    bool have_shared;
    std::uint64_t size;
    // Addresses, the same at both: of coherent memory, whose home is place 0 but for the parts, and
    // of memory that both have.
    std::uint64_t of_bytes, of_parts, of_shared, of_plain;

    [[nodiscard]] unsigned char* bytes() const { return at<unsigned char>(of_bytes); }
    [[nodiscard]] unsigned char* part(int place) const {
        return at<unsigned char>(of_parts) + place * k_part;
    }
    [[nodiscard]] long* counter() const { return at<long>(of_bytes); }
    [[nodiscard]] synchronisers& shared() const { return *at<synchronisers>(of_shared); }
    [[nodiscard]] unsigned char* plain() const { return at<unsigned char>(of_plain); }
    [[nodiscard]] std::uint64_t missed() const { return std::min(size, k_misses); }

private:
    template <class T> [[nodiscard]] static T* at(std::uint64_t address) {
        return reinterpret_cast<T*>(address); // NOLINT(performance-no-int-to-ptr)
    }
};

void expect_done(int error) {
    if (error == 0) return;
    std::fprintf(stderr, "coherent: %s\n", std::strerror(-error));
    std::exit(1);
}

void fill(unsigned char* first, std::uint64_t bytes, unsigned char value) {
    for (std::uint64_t k = 0; k < bytes; k += k_run) {
        auto const address = reinterpret_cast<std::uintptr_t>(first + k);
        tulle_coherent_store_range(address, address + k_run - 1);
        std::memset(first + k, value, k_run);
    }
}

void fill_and_release(memories const& m, unsigned char value) {
    fill(m.bytes(), m.size, value);
    tulle_coherent_release();
}
// Seconds for each unit, one out of four, of what fits into caches. -1: `use(offset)` says that a
// value is wrong.
template <class Use> double time_of_units(memories const& m, Use use) {
    constexpr std::uint64_t distance = 4 * k_unit;
    std::uint64_t const units = m.missed() / distance; // a power of two
    bool right = true;
    double const time = time_of([&] {
        for (std::uint64_t k = 0; k < units; ++k) right &= use((k * 7919 & (units - 1)) * distance);
    });
    return right ? time / static_cast<double>(units) : -1;
}
double miss_all(memories const& m, unsigned char expected) {
    tulle_coherent_acquire();
    return time_of_units(
        m, [&](std::uint64_t offset) { return checked_load(m.bytes() + offset) == expected; });
}
double copy_all(memories const& m, unsigned char expected) {
    static std::vector<unsigned char> s_own(m.missed());
    return time_of_units(m, [&](std::uint64_t offset) {
        std::memcpy(s_own.data() + offset, m.plain() + offset, k_unit);
        return s_own[offset] == expected;
    });
}
double read_all(memories const& m, unsigned char expected) {
    std::vector<unsigned char> own(k_run);
    tulle_coherent_acquire();
    bool right = true;
    double const time = time_of([&] {
        for (std::uint64_t k = 0; k < m.size; k += k_run) {
            auto const address = reinterpret_cast<std::uintptr_t>(m.bytes() + k);
            tulle_coherent_load_range(address, address + k_run - 1);
            std::memcpy(own.data(), m.bytes() + k, k_run);
            right &= own.front() == expected && own.back() == expected;
        }
    });
    return right ? time / static_cast<double>(m.size) : -1;
}

void meet(memories const& m, std::uint32_t& round) {
    tulle_coherent_release();
    m.shared().arrived.fetch_add(1);
    for (round += 2; m.shared().arrived.load() < round;) continue;
    tulle_coherent_acquire();
}

// Runs `body(round)` at both places at once; each has met the other before.
template <class Body> void at_both(memories const& m, Body body) {
    m.shared().arrived.store(0);
    tulle::finish([&](tulle::activities& all) {
        for (int p = 0; p < 2; ++p)
            all.async_at(
                tulle::place(p),
                [](memories own, Body run) {
                    std::uint32_t round = 0;
                    meet(own, round);
                    run(own, round);
                },
                m, body);
    });
    tulle_coherent_acquire();
}

// Whose parts both write before a barrier.
enum class written { own, of_other, of_one_home };

unsigned char* part_of(memories const& m, written which) {
    int const here = tulle::here().index();
    if (which == written::of_one_home) return m.bytes() + static_cast<std::uint64_t>(here) * k_part;
    return m.part(which == written::own ? here : 1 - here);
}

// Both write so much of a part before each.
struct barriers {
    std::uint64_t bytes;
    written which;

    void operator()(memories const& m, std::uint32_t& round) const {
        auto const here = static_cast<std::size_t>(tulle::here().index());
        for (std::size_t k = 0; k < k_barriers; ++k) {
            if (bytes != 0) fill(part_of(m, which), bytes, static_cast<unsigned char>(k));
            m.shared().came[here][k] = clock::now();
            meet(m, round);
            m.shared().went[here][k] = clock::now();
            meet(m, round); // nobody writes before the other is there
        }
    }
};
// Microseconds of one barrier, the median.
double time_of_barriers(synchronisers const& s) {
    std::array<double, k_barriers> times{};
    for (std::size_t k = 0; k < k_barriers; ++k) {
        std::chrono::duration<double, std::micro> const time =
            std::max(s.went[0][k], s.went[1][k]) - std::max(s.came[0][k], s.came[1][k]);
        times[k] = time.count();
    }
    std::nth_element(times.begin(), times.begin() + k_barriers / 2, times.end());
    return times[k_barriers / 2];
}

struct counting {
    void operator()(memories const& m, std::uint32_t& /*round*/) const {
        for (long k = 0; k < k_turns; ++k) {
            while (m.shared().lock.exchange(1, std::memory_order_acquire) != 0)
                while (m.shared().lock.load(std::memory_order_relaxed) != 0) continue;
            tulle_coherent_acquire();
            checked_store(m.counter(), checked_load(m.counter()) + 1);
            tulle_coherent_release();
            m.shared().lock.store(0, std::memory_order_release);
        }
    }
};

std::uint64_t coherent_bytes(std::uint64_t size) {
    void* found = nullptr;
    expect_done(tulle_coherent_malloc(&found, size));
    return reinterpret_cast<std::uintptr_t>(found);
}

memories make_memories(std::uint64_t size) {
    void* found = nullptr;
    expect_done(tulle_global_calloc(&found, 1, sizeof(synchronisers)));
    ::new (found) synchronisers{};
    expect_done(tulle_coherent_begin());
    bool const have_shared = tulle::at(
        tulle::place(1),
        [](std::uint64_t address) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr)
            return tulle_global_local(reinterpret_cast<void*>(~address), 1) != nullptr;
        },
        ~reinterpret_cast<std::uintptr_t>(found));
    memories made{have_shared,
                  size,
                  coherent_bytes(size),
                  coherent_bytes(2 * k_part),
                  reinterpret_cast<std::uintptr_t>(found),
                  0};
    expect_done(tulle_global_calloc(&found, 1, made.missed()));
    made.of_plain = reinterpret_cast<std::uintptr_t>(found);
    tulle_coherent_share();
    return made;
}

template <class F> double at_other(F function, memories const& m, unsigned char value) {
    return tulle::at(tulle::place(1), function, m, value);
}

// Misses and long runs. Whoever writes first is the home.
struct copying {
    figure miss{"ns miss"}, copy{"ns copy"}, read{"GB/s read"}, home{"GB/s write at home"},
        away{"GB/s write away"}, at{"ns at"};
    unsigned char value = 0;

    void run(memories const& m) {
        auto const size = static_cast<double>(m.size);
        home.add(size / time_of([&] { fill_and_release(m, ++value); }) / 1e9, true);
        double time =
            at_other([](memories o, unsigned char v) { return miss_all(o, v); }, m, value);
        miss.add(time * 1e9, time > 0);
        if (m.have_shared) {
            std::memset(m.plain(), value, m.missed());
            time = at_other([](memories o, unsigned char v) { return copy_all(o, v); }, m, value);
            copy.add(time * 1e9, time > 0);
        }
        fill_and_release(m, ++value);
        time = at_other([](memories o, unsigned char v) { return read_all(o, v); }, m, value);
        read.add(1 / time / 1e9, time > 0);
        time = at_other(
            [](memories o, unsigned char v) { return time_of([&] { fill_and_release(o, v); }); }, m,
            ++value);
        tulle_coherent_acquire();
        away.add(size / time / 1e9,
                 checked_load(m.bytes()) == value && checked_load(m.bytes() + m.size - 1) == value);
        int calls = 0;
        time = time_of([&] {
            for (int k = 0; k < k_calls; ++k)
                calls += tulle::at(tulle::place(1), [] { return tulle::here().index(); });
        });
        at.add(time / k_calls * 1e9, calls == k_calls);
    }
};

// By memory that both have.
struct meetings {
    figure empty{"us barrier"}, own{"us barrier, 1 MiB at home"}, others{"us barrier, 1 MiB away"},
        of_one{"us barrier, 1 MiB, one home"}, alone{"ns counter alone"},
        contended{"ns counter contended"};

    void run(memories const& m) {
        at_both(m, barriers{0, written::own});
        empty.add(time_of_barriers(m.shared()), true);
        at_both(m, barriers{k_part, written::own}); // first: each is the home of its part
        own.add(time_of_barriers(m.shared()),
                checked_load(m.part(0)) == 49 && checked_load(m.part(1)) == 49);
        at_both(m, barriers{k_part, written::of_other});
        others.add(time_of_barriers(m.shared()),
                   checked_load(m.part(0)) == 49 && checked_load(m.part(1)) == 49);
        at_both(m, barriers{k_part, written::of_one_home});
        of_one.add(time_of_barriers(m.shared()),
                   checked_load(m.bytes()) == 49 && checked_load(m.bytes() + k_part) == 49);

        checked_store(m.counter(), 0L);
        double time = time_of([&] {
            std::uint32_t round = 0;
            counting{}(m, round);
        });
        alone.add(time / k_turns * 1e9, checked_load(m.counter()) == k_turns);
        tulle_coherent_release();
        time = time_of([&] { at_both(m, counting{}); });
        contended.add(time / (2 * k_turns) * 1e9, checked_load(m.counter()) == 3 * k_turns);
    }
};

std::vector<figure> measure(settings const& s) {
    memories const m = make_memories(static_cast<std::uint64_t>(s.n));
    copying copies;
    meetings meet;
    for (int run = 0; run <= s.runs; ++run) {
        copies.run(m);
        if (m.have_shared) meet.run(m);
    }
    std::vector<figure> all{copies.miss, copies.read, copies.home, copies.away, copies.at};
    if (m.have_shared)
        all.insert(all.end(), {copies.copy, meet.empty, meet.own, meet.others, meet.of_one,
                               meet.alone, meet.contended});
    for (figure& each : all) each.values.erase(each.values.begin());
    return all;
}

int coherent_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {32 << 20, 4 << 20, 2 << 20});
    if ((s.n & (s.n - 1)) != 0) {
        std::fprintf(stderr, "coherent: %ld bytes are no power of two\n", s.n);
        return 2;
    }
    if (s.places != 2) {
        std::fprintf(stderr, "coherent: of %d places, but it takes 2\n", s.places);
        return 2;
    }
    tulle::set_option("coherent", "private");
    tulle::set_option("global_memory", std::to_string(5 * s.n));
    tulle_coherent_start(TULLE_COHERENT_ABI);
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] { figures = measure(s); });
    return print_all("coherent", "tulle", s, figures);
}

benchmark const registered("coherent", "tulle", coherent_main);

} // namespace

} // namespace tulle::bench
