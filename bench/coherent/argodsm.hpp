// SPDX-License-Identifier: Apache-2.0
// coherent by ArgoDSM, whose unit is a page that the processor's page table protects; what is
// measured has the names of tulle.cpp. Differences:
//   ns miss      a load brings as many pages as it says (argodsm: 8, the library's default;
//                argodsm_page: 1), and every fourth load is made, so that each of them misses
//   ns at        a word of the other node, read from there: ArgoDSM has no calls of functions
//   ns copy      is not measured: it is no figure of the library
// Nodes are two processes of one host, as barriers are timed by a clock that both have. The first
// half of the memory has its home at node 0, the other half at node 1.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <argo.hpp>

namespace tulle::bench::argodsm {

constexpr std::size_t k_page = 4096;
constexpr std::size_t k_run = 64 * 1024;
constexpr std::size_t k_part = 1024 * 1024;        // of each node between barriers
constexpr std::size_t k_misses = 16 * 1024 * 1024; // where single units are loaded
constexpr long k_turns = 1'000;
constexpr int k_calls = 200;
constexpr std::size_t k_barriers = 20; // of one kind in a run
constexpr long k_word = 42;

using clock = std::chrono::steady_clock; // one for all processes of a host
using times = std::array<clock::rep, k_barriers>;
using global_lock = argo::globallock::global_tas_lock;

// What a node tells the other one; each has a page of its own.
struct told {
    double value;
    times came, went;
};
static_assert(sizeof(told) <= k_page);

// In memory of both: bytes at node 0, and beside them parts at each.
class memories {
public:
    explicit memories(std::size_t size) : m_size(size) {
        argo::init(2 * (size + k_beside), 2 * (size + k_beside));
        m_here = static_cast<int>(argo::node_id());
        if (argo::number_of_nodes() != 2) return;
        auto* const all = argo::conew_array<unsigned char>(size + k_beside + k_least);
        m_bytes = next_page(all);
        m_parts = {m_bytes + size, next_page(first_of_other(all))};
        m_lock = new global_lock(at<global_lock::internal_field_type>(0, 1));
        if (m_here == 1) *word() = k_word;
        argo::barrier();
    }
    ~memories() {
        delete m_lock;
        argo::finalize();
    }
    memories(memories const&) = delete;
    memories& operator=(memories const&) = delete;

    [[nodiscard]] int here() const { return m_here; }
    // Whether it has two nodes, and what is called theirs is theirs.
    [[nodiscard]] bool is_as_wanted() const {
        return m_parts[1] != nullptr && argo::get_homenode(m_bytes) == 0 &&
               argo::get_homenode(told_by(0)) == 0 && argo::get_homenode(m_parts[1]) == 1;
    }
    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] unsigned char* bytes() const { return m_bytes; }
    [[nodiscard]] unsigned char* part(int node) const {
        return m_parts[static_cast<std::size_t>(node)];
    }
    [[nodiscard]] told* told_by(int node) const { return at<told>(node, 0); }
    [[nodiscard]] global_lock& lock() const { return *m_lock; }
    [[nodiscard]] long* counter() const { return at<long>(0, 2); }
    [[nodiscard]] long* word() const { return at<long>(1, 1); } // at node 1

    // What `f` returns at a node, for both. None of them goes on before the other has it.
    template <class F> double on(int node, F&& f) const {
        if (m_here == node) told_by(node)->value = f();
        argo::barrier();
        double const value = told_by(node)->value;
        argo::barrier();
        return value;
    }

private:
    static constexpr std::size_t k_beside = 4 * k_part;
    static constexpr std::size_t k_least = 2 * k_part; // of node 1

    static unsigned char* next_page(unsigned char* p) {
        return p + (k_page - reinterpret_cast<std::uintptr_t>(p) % k_page) % k_page;
    }
    // Its half may begin a page later than what was asked for.
    static unsigned char* first_of_other(unsigned char* p) {
        while (argo::get_homenode(p) == 0) p += k_page;
        return p;
    }
    // A page behind the part of a node.
    template <class T> [[nodiscard]] T* at(int node, std::size_t page) const {
        return reinterpret_cast<T*>(part(node) + k_part + page * k_page);
    }

    std::size_t m_size;
    int m_here = 0;
    unsigned char* m_bytes = nullptr;
    std::array<unsigned char*, 2> m_parts{};
    global_lock* m_lock = nullptr;
};

inline void fill(unsigned char* first, std::size_t bytes, unsigned char value) {
    for (std::size_t k = 0; k < bytes; k += k_run) std::memset(first + k, value, k_run);
}

inline double time_to_fill(memories const& m, unsigned char value) {
    return time_of([&] {
        fill(m.bytes(), m.size(), value);
        argo::backend::release();
    });
}

// Seconds for each unit; -1: a value is wrong.
inline double time_of_misses(memories const& m, unsigned char expected) {
    std::size_t const distance = 4 * k_page * argo::env::load_size();
    std::size_t const units = std::max(std::min(m.size(), k_misses) / distance, std::size_t{1});
    bool right = true;
    double const time = time_of([&] {
        for (std::size_t k = 0; k < units; ++k)
            right &= m.bytes()[k * 7919 % units * distance] == expected;
    });
    return right ? time / static_cast<double>(units) : -1;
}

inline double time_to_read(memories const& m, unsigned char expected) {
    std::vector<unsigned char> own(k_run);
    bool right = true;
    double const time = time_of([&] {
        for (std::size_t k = 0; k < m.size(); k += k_run) {
            std::memcpy(own.data(), m.bytes() + k, k_run);
            right &= own.front() == expected && own.back() == expected;
        }
    });
    return right ? time : -1;
}

// Of node 0, by node 1's word.
inline double time_of_words(memories const& m) {
    argo::data_distribution::global_ptr<long> const word(m.word());
    bool right = true;
    double const time = time_of([&] {
        for (int k = 0; k < k_calls; ++k)
            right &=
                argo::backend::atomic::load(word, argo::atomic::memory_order::relaxed) == k_word;
    });
    return right ? time / k_calls : -1;
}

// Microseconds of one barrier, the median: from when the last one comes to when both have gone on.
inline double time_of_barriers(told const& one, told const& other) {
    std::vector<double> all;
    for (std::size_t k = 0; k < k_barriers; ++k) {
        clock::duration const time(std::max(one.went[k], other.went[k]) -
                                   std::max(one.came[k], other.came[k]));
        all.push_back(std::chrono::duration<double, std::micro>(time).count());
    }
    return median(all);
}

// Both write so many bytes before each.
inline double meet_often(memories const& m, unsigned char* first, std::size_t bytes) {
    told own{};
    argo::barrier();
    for (std::size_t k = 0; k < k_barriers; ++k) {
        if (bytes != 0) fill(first, bytes, static_cast<unsigned char>(k));
        own.came[k] = clock::now().time_since_epoch().count();
        argo::barrier();
        own.went[k] = clock::now().time_since_epoch().count();
        argo::barrier(); // nobody writes before the other is there
    }
    *m.told_by(m.here()) = own;
    argo::barrier();
    double const time = time_of_barriers(*m.told_by(0), *m.told_by(1));
    argo::barrier();
    return time;
}

inline void count(memories const& m) {
    for (long k = 0; k < k_turns; ++k) {
        m.lock().lock();
        ++*m.counter();
        m.lock().unlock();
    }
}

struct measurement {
    figure miss{"ns miss"}, read{"GB/s read"}, home{"GB/s write at home"}, away{"GB/s write away"},
        at{"ns at"}, empty{"us barrier"}, own{"us barrier, 1 MiB at home"},
        others{"us barrier, 1 MiB away"}, of_one{"us barrier, 1 MiB, one home"},
        alone{"ns counter alone"}, contended{"ns counter contended"};
    unsigned char value = 0;

    [[nodiscard]] std::vector<figure> all() const {
        return {miss, read, home, away, at, empty, own, others, of_one, alone, contended};
    }

    void copy(memories const& m) {
        auto const size = static_cast<double>(m.size());
        ++value;
        home.add(size / m.on(0, [&] { return time_to_fill(m, value); }) / 1e9, true);
        double time = m.on(1, [&] { return time_of_misses(m, value); });
        miss.add(time * 1e9, time > 0);
        ++value;
        m.on(0, [&] { return time_to_fill(m, value); });
        time = m.on(1, [&] { return time_to_read(m, value); });
        read.add(size / time / 1e9, time > 0);
        ++value;
        time = m.on(1, [&] { return time_to_fill(m, value); });
        away.add(size / time / 1e9, m.bytes()[0] == value && m.bytes()[m.size() - 1] == value);
        time = m.on(0, [&] { return time_of_words(m); });
        at.add(time * 1e9, time > 0);
    }

    // Each has written its part of the two before each barrier.
    static void meet_with(memories const& m, figure& cost, unsigned char* of_here,
                          std::array<unsigned char const*, 2> parts) {
        double const time = meet_often(m, of_here, k_part);
        bool const right = std::all_of(parts.begin(), parts.end(), [](unsigned char const* part) {
            return part[0] == k_barriers - 1 && part[k_part - 1] == k_barriers - 1;
        });
        cost.add(time, right);
    }

    void meet(memories const& m) {
        empty.add(meet_often(m, nullptr, 0), true);
        meet_with(m, own, m.part(m.here()), {m.part(0), m.part(1)});
        meet_with(m, others, m.part(1 - m.here()), {m.part(0), m.part(1)});
        auto* const of_here = m.bytes() + static_cast<std::size_t>(m.here()) * k_part;
        meet_with(m, of_one, of_here, {m.bytes(), m.bytes() + k_part});
    }

    void count_up(memories const& m) {
        m.on(0, [&] { return static_cast<double>(*m.counter() = 0); });
        double time = m.on(0, [&] { return time_of([&] { count(m); }); });
        alone.add(time / k_turns * 1e9, *m.counter() == k_turns);
        argo::barrier();
        time = time_of([&] {
            count(m);
            argo::barrier();
        });
        contended.add(time / (2 * k_turns) * 1e9, *m.counter() == 3 * k_turns);
        argo::barrier();
    }
};

// Both nodes do the same; node 0 prints.
inline int measure(settings const& s, char const* name) {
    memories const m(static_cast<std::size_t>(s.n));
    if (!m.is_as_wanted()) {
        std::fprintf(stderr,
                     "coherent: ArgoDSM has not two nodes with a half of the memory each\n");
        return 1;
    }
    measurement figures;
    for (int run = 0; run <= s.runs; ++run) { // one warms up
        figures.copy(m);
        figures.meet(m);
        figures.count_up(m);
    }
    if (m.here() != 0) return 0;
    std::vector<figure> all = figures.all();
    for (figure& each : all) each.values.erase(each.values.begin());
    return print_all("coherent", name, s, all);
}

// `pages`: that a load brings.
inline int coherent_main(int argc, char** argv, char const* name, char const* pages) {
    settings const s = parse(argc, argv, {32 << 20, 4 << 20, 2 << 20});
    if ((s.n & (s.n - 1)) != 0 || s.places != 2) {
        std::fprintf(stderr, "coherent: it takes a power of two of bytes, and 2 places\n");
        return 2;
    }
    setenv("ARGO_ALLOCATION_POLICY", "0", 1); // of which halves are of a node each
    setenv("ARGO_LOAD_SIZE", pages, 1);
    setenv("ARGO_PRINT_STATISTICS", "0", 0);
    return measure(s, name);
}

} // namespace tulle::bench::argodsm
