// SPDX-License-Identifier: Apache-2.0
//
// scale [--memory] PLACES...: what operations of that many places cost, in messages, on a virtual
// network of this process, and what a place takes in memory.
// Prints the tables of docs/scale.md, with --memory only the last one, and fails if a count is not
// what the formula there says.
#include "counting_transport.hpp"
#include "membership/place_services.hpp"
#include "messenger/context.hpp"
#include "net/loopback_transport.hpp"
#include "net/session.hpp"
#include "net/shm_transport.hpp"

#include <tulle/clock.hpp>
#include <tulle/place_local.hpp>
#include <tulle/team.hpp>
#include <tulle/tulle.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/stat.h>

namespace {

using tulle::membership::place_services;
using u64 = std::uint64_t;

// --- many places in one process ------------------------------------------------------------------

std::size_t heap_in_use() {
    auto const all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

// One OS thread moves the messages of all places; each has but its services. The thread that makes
// them stands at place 0.
class simulation {
public:
    explicit simulation(int places)
        : m_network(static_cast<tulle::net::rank>(places)),
          m_counts(static_cast<std::size_t>(places)) {
        std::size_t const before = heap_in_use();
        for (tulle::net::rank r = 0; r < m_network.count(); ++r) {
            auto transport = std::make_unique<counting_transport>(m_network.join(r), m_counts[r]);
            m_services.push_back(std::make_unique<place_services>(std::move(transport)));
        }
        m_bytes_of_place = (heap_in_use() - before) / m_services.size();
        m_context.at = &m_services.front()->messages;
        m_scoped_context.emplace(m_context);
        m_driver = std::thread([this] { drive(); });
    }
    ~simulation() {
        m_stopping = true;
        m_driver.join();
    }
    simulation(simulation const&) = delete;
    simulation& operator=(simulation const&) = delete;

    [[nodiscard]] int places() const noexcept { return static_cast<int>(m_services.size()); }
    [[nodiscard]] std::size_t bytes_of_place() const noexcept { return m_bytes_of_place; }

    struct count {
        u64 touched = 0, sent = 0, bytes = 0; // touched: sent or received
    };
    [[nodiscard]] std::vector<count> counts() const {
        std::vector<count> all;
        for (auto const& c : m_counts) all.push_back({c.sent + c.received, c.sent, c.bytes});
        return all;
    }

private:
    void drive() noexcept {
        while (!m_stopping) {
            bool found = false;
            for (auto const& one : m_services) found |= one->messages.poll();
            if (!found) std::this_thread::yield();
        }
    }

    tulle::net::loopback_network m_network;
    std::vector<message_counts> m_counts;
    std::vector<std::unique_ptr<place_services>> m_services;
    std::size_t m_bytes_of_place = 0;
    tulle::messenger::place_context m_context;
    std::optional<tulle::messenger::scoped_context> m_scoped_context;
    std::atomic<bool> m_stopping{false};
    std::thread m_driver;
};

struct load {
    u64 messages = 0; // of all places
    u64 busiest = 0;  // sent and received by the place that has most
    u64 bytes = 0;    // of all messages, heads included
};

std::vector<simulation::count> operator-(std::vector<simulation::count> a,
                                         std::vector<simulation::count> const& b) {
    for (std::size_t k = 0; k < a.size(); ++k) {
        a[k].touched -= b[k].touched;
        a[k].sent -= b[k].sent;
        a[k].bytes -= b[k].bytes;
    }
    return a;
}

load sum(std::vector<simulation::count> const& all) {
    load l;
    for (auto const& c : all) {
        l.messages += c.sent;
        l.busiest = std::max(l.busiest, c.touched);
        l.bytes += c.bytes;
    }
    return l;
}

std::vector<simulation::count> spent(simulation const& world,
                                     std::function<void(int)> const& program, int times) {
    auto const before = world.counts();
    program(times);
    return world.counts() - before;
}

// --- operations ----------------------------------------------------------------------------------

void finish_flat(int times) {
    for (int k = 0; k < times; ++k)
        tulle::finish([](tulle::activities& all) {
            for (auto const p : tulle::places()) all.async_at(p, [] {});
        });
}

// In one finish each place starts one at each.
void finish_dense(int times) {
    for (int k = 0; k < times; ++k)
        tulle::finish([](tulle::activities& all) {
            for (auto const p : tulle::places())
                all.async_at(p, [] {
                    for (auto const q : tulle::places()) tulle::this_activity::async_at(q, [] {});
                });
        });
}

constexpr int k_fan_out = 8;

// Places from `first` on: each part of them by a finish at its first place.
void finish_part_of(int first, int count) {
    tulle::finish([&](tulle::activities& all) {
        int const part = (count - 1 + k_fan_out - 1) / k_fan_out;
        for (int at = 1; at < count; at += part)
            all.async_at(
                tulle::place(first + at), [](int from, int size) { finish_part_of(from, size); },
                first + at, std::min(part, count - at));
    });
}
void finish_nested(int times) {
    for (int k = 0; k < times; ++k) finish_part_of(0, tulle::place_count());
}

// Op(team) so many times at each place.
template <class Op> void at_all(int times) {
    tulle::finish([times](tulle::activities& all) {
        for (auto const p : tulle::places())
            all.async_at(
                p,
                [](int left) {
                    tulle::team const everybody;
                    for (; left != 0; --left) Op{}(everybody);
                },
                times);
    });
}
struct barrier {
    void operator()(tulle::team const& t) const { t.barrier(); }
};
struct broadcast {
    void operator()(tulle::team const& t) const {
        long value = 1;
        t.broadcast(value);
    }
};
struct allreduce {
    void operator()(tulle::team const& t) const { static_cast<void>(t.allreduce(1L)); }
};
struct gather {
    void operator()(tulle::team const& t) const { static_cast<void>(t.gather(1L)); }
};
struct exchange {
    void operator()(tulle::team const& t) const {
        static_cast<void>(t.all_to_all(std::vector<long>(static_cast<std::size_t>(t.size()))));
    }
};

void clock_phases(int times) {
    tulle::finish([times](tulle::activities& all) {
        auto const c = tulle::clock::make();
        for (auto const p : tulle::places())
            c.async_at(
                all, p,
                [](tulle::clock own, int left) {
                    for (; left != 0; --left) own.advance();
                },
                times);
        c.drop();
    });
}

void local_objects(int times) {
    for (int k = 0; k < times; ++k) tulle::place_local<int>::make([] { return 0; }).destroy();
}

// --- what they should cost -----------------------------------------------------------------------

struct expectation {
    u64 messages, busiest; // busiest 0: any
    u64 most = messages;   // how often a place becomes quiet and reports is a matter of time
};

bool is_as_expected(load const& l, expectation const& e) {
    return l.messages >= e.messages && l.messages <= e.most &&
           (e.busiest == 0 || l.busiest == e.busiest);
}

u64 rounds(u64 places) { return static_cast<u64>(std::bit_width(places - 1)); } // log2, rounded up

// Of each place, in four ways: three in a round, and in the last one as many as are left.
u64 barrier_messages(u64 places) {
    u64 sum = 0;
    for (u64 nearest = 1; nearest < places; nearest *= 4)
        sum += std::min<u64>((places - 1) / nearest, 3);
    return sum;
}

struct operation {
    char const* name;
    std::function<void(int)> program; // so many times
    expectation (*expected)(u64 places);
    bool is_steady = true; // costs the same each time
};

expectation over_nested(u64 places) {
    u64 const part = (places - 1 + k_fan_out - 1) / k_fan_out;
    u64 const parts = (places - 1 + part - 1) / part;
    return {2 * (places - 1), 2 * parts + (places > k_fan_out + 1 ? 2 : 0)};
}

std::vector<operation> const& operations() {
    static std::vector<operation> const s_all = {
        {"finish, an activity at each place", &finish_flat,
         [](u64 p) -> expectation {
             return {2 * (p - 1), 2 * (p - 1)};
         }},
        {"the same by nested finishes of 8", &finish_nested,
         [](u64 p) -> expectation {
             return {over_nested(p).messages, 0};
         }},
        {"finish, an activity from each place at each", &finish_dense,
         [](u64 p) -> expectation {
             return {(p + 2) * (p - 1), 0, (2 * p + 2) * (p - 1) + p * (p - 1)};
         },
         false},
        {"team: barrier", &at_all<barrier>,
         [](u64 p) -> expectation {
             return {p * barrier_messages(p), 2 * barrier_messages(p)};
         }},
        {"team: broadcast", &at_all<broadcast>,
         [](u64 p) -> expectation {
             return {p - 1, rounds(p)};
         }},
        {"team: allreduce", &at_all<allreduce>,
         [](u64 p) -> expectation {
             if (std::has_single_bit(p)) return {p * rounds(p), 2 * rounds(p)};
             return {2 * (p - 1), 2 * rounds(p)};
         }},
        {"team: gather", &at_all<gather>,
         [](u64 p) -> expectation {
             return {p - 1, p - 1};
         }},
        {"team: all_to_all", &at_all<exchange>,
         [](u64 p) -> expectation {
             return {p * (p - 1), 2 * (p - 1)};
         }},
        {"clock: a phase of all places", &clock_phases,
         [](u64 p) -> expectation {
             return {2 * (p - 1), 2 * (p - 1)};
         }},
        {"place_local: make and destroy", &local_objects,
         [](u64 p) -> expectation {
             return {4 * (p - 1), 4 * (p - 1)};
         }},
    };
    return s_all;
}

// One of it: what two cost, less what one costs, as a program that starts it at all places costs
// something itself.
load cost(simulation const& world, operation const& what) {
    if (!what.is_steady) return sum(spent(world, what.program, 1));
    auto const one = spent(world, what.program, 1);
    return sum(spent(world, what.program, 2) - one);
}

bool measure(simulation const& world, operation const& what) {
    u64 const places = static_cast<u64>(world.places());
    load const l = cost(world, what);
    expectation const e = what.expected(places);
    bool const is_right = is_as_expected(l, e);
    std::printf("| %llu | %s | %llu | %.2f | %llu | %llu |%s\n",
                static_cast<unsigned long long>(places), what.name,
                static_cast<unsigned long long>(l.messages),
                static_cast<double>(l.messages) / static_cast<double>(places),
                static_cast<unsigned long long>(l.busiest),
                static_cast<unsigned long long>(l.bytes / places), is_right ? "" : " WRONG");
    if (!is_right)
        std::printf("  expected: %llu, the busiest place %llu\n",
                    static_cast<unsigned long long>(e.messages),
                    static_cast<unsigned long long>(e.busiest));
    std::fflush(stdout);
    return is_right;
}

// --- memory --------------------------------------------------------------------------------------

struct memory {
    int places = 0;
    std::size_t of_services = 0;  // heap
    std::size_t of_transport = 0; // heap, of places of one host
    // Address space that these share; a page takes memory when it is touched.
    std::size_t of_session = 0;
    std::size_t touched = 0; // of it, once place 0 has sent a message to each
};

std::size_t bytes_in_memory(int descriptor) {
    struct stat found {};
    return fstat(descriptor, &found) == 0 ? static_cast<std::size_t>(found.st_blocks) * 512 : 0;
}

void measure_session(memory& m) {
    auto made = tulle::net::session::create(static_cast<tulle::net::rank>(m.places));
    if (!made.is_valid()) return;
    m.of_session = made.memory().size();
    std::size_t const before = heap_in_use();
    tulle::net::shm_transport first(std::move(made), 0);
    m.of_transport = heap_in_use() - before;
    for (tulle::net::rank r = 0; r < first.count(); ++r)
        static_cast<void>(first.try_send(r, {}, nullptr));
    m.touched = bytes_in_memory(first.joined().memory().descriptor());
}

bool measure(int places, bool only_memory, std::vector<memory>& memories) {
    tulle::initialize({.workers = 2});
    bool is_right = true;
    {
        simulation const world(places);
        memories.push_back({places, world.bytes_of_place()});
        measure_session(memories.back());
        if (!only_memory)
            for (operation const& o : operations()) is_right &= measure(world, o);
    }
    tulle::finalize();
    return is_right;
}

} // namespace

int main(int argc, char** argv) {
    bool const only_memory = argc > 1 && std::strcmp(argv[1], "--memory") == 0;
    int const first = only_memory ? 2 : 1;
    if (argc <= first) {
        std::fprintf(stderr, "usage: %s [--memory] PLACES...\n", argv[0]);
        return 2;
    }
    std::vector<memory> memories;
    bool is_right = true;
    if (!only_memory)
        std::printf("| places | operation | messages | of a place, mean | of the busiest place | "
                    "bytes sent by a place, mean |\n"
                    "|---|---|---|---|---|---|\n");
    for (int k = first; k < argc; ++k)
        is_right &= measure(std::max(2, std::atoi(argv[k])), only_memory, memories);
    std::printf("\n| places | heap of a place | heap of its transport on one host | memory shared "
                "there | touched when place 0 has sent "
                "to each |\n"
                "|---|---|---|---|---|\n");
    for (memory const& m : memories)
        std::printf("| %d | %zu | %zu | %zu | %zu |\n", m.places, m.of_services, m.of_transport,
                    m.of_session, m.touched);
    return is_right ? 0 : 1;
}
