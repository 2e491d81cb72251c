// SPDX-License-Identifier: Apache-2.0
// Random programs without data races, on hosts that are OS threads with copies of their own, or
// several with one copy: each byte is what it would be on one host. Bytes of one word belong to
// different threads, so that all write side by side. Some hosts are on other machines: what they
// ask each other is done late, and in another order.
#include "base/rng.hpp"
#include "base/sanitize.hpp"
#include "dsm/basic_coherent_host.hpp"
#include "os/shared_memory.hpp"
#include "stress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tulle::dsm {
namespace {

constexpr std::uint32_t k_locks = 4;
constexpr std::size_t k_bytes = 8 * 1024; // of the memory that programs use

struct shape {
    host_number hosts;
    std::uint64_t unit_bytes;
    unsigned programs;
    host_number machines = 1;   // which have the hosts by turns
    std::size_t most_bytes = 0; // of a request
    outdated_copies outdated = outdated_copies::are_dropped;
    unsigned threads = 1;       // of each host
    bool has_all_sizes = false; // of units, by turns

    [[nodiscard]] unsigned all_threads() const { return hosts * threads; }
};

shape refreshed(shape s) {
    s.outdated = outdated_copies::are_refreshed;
    return s;
}
shape with_threads(unsigned threads, shape s) {
    s.threads = threads;
    return s;
}

shape of_all_sizes(shape s) {
    s.has_all_sizes = true;
    return s;
}

// Of one host; each says when it holds no check.
class threads_of_host final : public checking_threads {
public:
    explicit threads_of_host(unsigned count) : m_points(count) {}

    void begin(unsigned number) noexcept { s_number = number; }
    void pass() noexcept { m_points[s_number].fetch_add(1, std::memory_order_release); }

    [[nodiscard]] std::size_t most() const noexcept override { return m_points.size(); }
    [[nodiscard]] std::size_t count() const noexcept override { return m_points.size(); }
    [[nodiscard]] std::size_t caller() const noexcept override { return s_number; }
    [[nodiscard]] bool is_only_one() const noexcept override { return m_points.size() == 1; }
    [[nodiscard]] std::uint64_t point_of(std::size_t number) const noexcept override {
        return m_points[number].load(std::memory_order_relaxed);
    }

private:
    static inline thread_local unsigned s_number = 0;
    std::vector<std::atomic<std::uint64_t>> m_points;
};

// Does what a host asks of others in that host's thread, not before it waits, in any order.
template <class Cluster> class late_hosts final : public far_hosts {
public:
    late_hosts(Cluster& all, host_number here, std::size_t most, std::uint64_t first = 0)
        : m_all(all), m_here(here), m_most(most), m_random(seed() + here + first) {}

    [[nodiscard]] std::size_t most_bytes() const noexcept override { return m_most; }
    void ask(host_number to, std::byte const* request, std::size_t bytes, std::byte* answer,
             std::size_t room) noexcept override {
        EXPECT_LE(std::max(bytes, room), m_most);
        std::vector<std::uint64_t> words((bytes + 7) / 8);
        std::memcpy(words.data(), request, bytes);
        m_asked.push_back({to, std::move(words), answer, room});
        ++m_requests;
    }
    // How often it has waited for answers, and for how many.
    [[nodiscard]] unsigned waits() const noexcept { return m_waits; }
    [[nodiscard]] unsigned requests() const noexcept { return m_requests; }
    void wait() noexcept override {
        if (!m_asked.empty()) ++m_waits;
        errno = EAGAIN; // as the sockets of an MPI may say
        std::vector<std::uint64_t> words(m_most / 8);
        auto* const answer = reinterpret_cast<std::byte*>(words.data());
        while (!m_asked.empty()) {
            std::swap(m_asked[m_random.below(static_cast<std::uint32_t>(m_asked.size()))],
                      m_asked.back());
            asked const& one = m_asked.back();
            auto const* const request = reinterpret_cast<std::byte const*>(one.request.data());
            std::size_t const size = m_all.serve(one.to, m_here, request, answer);
            EXPECT_EQ(size, one.room);
            put(one.answer, answer, size);
            m_asked.pop_back();
            if (m_answers_to_come != nullptr)
                m_answers_to_come->fetch_sub(1, std::memory_order_release);
            // So that others read what was told before the rest is done.
            if (m_random.below(32) == 0) std::this_thread::sleep_for(brief(m_random));
        }
    }
    // The OS thread could run others meanwhile, which is such a point.
    // It goes on later than others may know what has come.
    void ask_beside(void (*f)(far_hosts& others, void* argument) noexcept, void* argument,
                    std::atomic<std::uint32_t>& answers_to_come) noexcept override {
        constexpr std::uint64_t k_apart = 1000;
        late_hosts others(m_all, m_here, m_most, k_apart * ++m_times_beside);
        others.m_answers_to_come = &answers_to_come;
        m_all.threads(m_here).pass();
        f(others, argument);
        EXPECT_EQ(answers_to_come.load(), 0U);
        if (others.m_random.below(4) == 0) std::this_thread::sleep_for(brief(others.m_random));
        m_all.threads(m_here).pass();
    }
    void pause() noexcept override {
        errno = EAGAIN;
        std::this_thread::yield();
    }
    void leave_messages() noexcept override {}
    void let_others_run() noexcept override {
        m_all.threads(m_here).pass();
        std::this_thread::yield();
    }

private:
    // Another thread of this host may look at bytes that stay the same.
    static void put(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
        for (std::size_t k = 0; k < bytes; ++k)
            std::atomic_ref(to[k]).store(from[k], std::memory_order_relaxed);
    }

    struct asked {
        host_number to;
        std::vector<std::uint64_t> request;
        std::byte* answer;
        std::size_t room;
    };

    Cluster& m_all;
    host_number m_here;
    std::size_t m_most;
    base::rng m_random;
    std::vector<asked> m_asked;
    unsigned m_waits = 0, m_requests = 0;
    std::atomic<std::uint64_t> m_times_beside{0};
    std::atomic<std::uint32_t>* m_answers_to_come = nullptr;
};

// The memory of a test, and where it lies in the files of machines.
template <class Host, class File> class cluster {
public:
    explicit cluster(shape const& s)
        : m_chosen(geometry_of(s)),
          m_checks_loads(s.outdated == outdated_copies::are_dropped),
          m_serving(s.hosts) {
        std::vector<os::shared_file> files;
        for (host_number m = 0; m < s.machines; ++m) {
            files.push_back(os::shared_file::create("coherent-test"));
            std::size_t const hosts = map_of(m, s).near.size();
            EXPECT_TRUE(files.back().is_open() && files.back().grow(File(m_chosen, hosts).size()));
        }
        for (host_number h = 0; h < s.hosts; ++h) {
            m_states.emplace_back(m_chosen.lines());
            m_carriers.push_back(std::make_unique<late_hosts<cluster>>(*this, h, s.most_bytes));
            m_threads.push_back(std::make_unique<threads_of_host>(s.threads));
            host_map map = map_of(h, s);
            map.carrier = m_carriers.back().get();
            m_hosts.push_back(std::make_unique<Host>(
                m_chosen, map, files[h % s.machines].number(), 0, m_states.back().data(),
                s.outdated, stores_are::checked, s.threads > 1 ? m_threads[h].get() : nullptr));
        }
        at(0).add({m_chosen.first_line(), m_chosen.lines()});
    }
    // A request at a host.
    std::size_t serve(host_number to, host_number from, std::byte const* request,
                      std::byte* answer) {
        std::lock_guard const alone(m_serving[to]);
        return at(to).serve(from, request, answer);
    }
    Host& at(host_number h) { return *m_hosts[h]; }

    threads_of_host& threads(host_number h) { return *m_threads[h]; }
    late_hosts<cluster> const& carrier(host_number h) const { return *m_carriers[h]; }

    // What a check of instrumented code does, and an access that one allows.
    void check(host_number h, std::size_t offset, access_kind wanted) {
        constexpr unsigned stores = TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE;
        if (wanted == access_kind::load && !m_checks_loads) return;
        std::uint64_t const address = address_of(offset);
        auto& state = m_states[h][address / TULLE_COHERENT_LINE - m_chosen.first_line()];
        unsigned const found = std::atomic_ref(state).load(std::memory_order_acquire);
        if ((found & (wanted == access_kind::load ? TULLE_COHERENT_NO_LOAD : stores)) == 0) return;
        constexpr int k_of_program = EDOM;
        errno = k_of_program;
        at(h).make_usable(address, address, wanted);
        EXPECT_EQ(errno, k_of_program); // to the program it is a load or a store
    }
    std::uint8_t get(host_number h, std::size_t offset) {
        return byte(h, offset).load(std::memory_order_relaxed);
    }
    void put(host_number h, std::size_t offset, std::uint8_t value) {
        byte(h, offset).store(value, std::memory_order_relaxed);
    }
    std::uint8_t load(host_number h, std::size_t offset) {
        check(h, offset, access_kind::load);
        return get(h, offset);
    }
    void store(host_number h, std::size_t offset, std::uint8_t value) {
        check(h, offset, access_kind::store);
        put(h, offset, value);
    }

private:
    static geometry geometry_of(shape const& s) {
        std::uint64_t const section = s.has_all_sizes ? used_chunks::k_bytes : 0;
        std::uint64_t const bytes =
            s.has_all_sizes ? bytes_of_sections(section) : used_chunks::k_bytes;
        return {
            TULLE_COHERENT_FIRST, bytes, s.unit_bytes / TULLE_COHERENT_LINE, s.hosts, 0, section};
    }
    // Parts, each of which several threads use, lie in the sections by turns.
    std::uint64_t address_of(std::size_t offset) const {
        constexpr std::size_t k_part = 512;
        if (m_chosen.section_bytes == 0) return m_chosen.address + offset;
        return m_chosen.address_of(offset, k_least_unit << offset / k_part % k_unit_sizes);
    }
    static host_map map_of(host_number here, shape const& s) {
        host_map made;
        made.here = here;
        for (host_number h = 0; h < s.hosts; ++h)
            if (h % s.machines == here % s.machines) made.near.push_back(h);
        for (host_number m = 0; m < s.machines; ++m)
            if (m != here % s.machines) made.leaders.push_back(m);
        return made;
    }
    std::atomic_ref<std::uint8_t> byte(host_number h, std::size_t offset) {
        std::uint64_t const address = address_of(offset);
        auto* const line = at(h).own().own_at(address / TULLE_COHERENT_LINE);
        return std::atomic_ref(
            *reinterpret_cast<std::uint8_t*>(line + address % TULLE_COHERENT_LINE));
    }

    geometry m_chosen;
    bool m_checks_loads;
    std::vector<std::mutex> m_serving;
    std::vector<std::unique_ptr<late_hosts<cluster>>> m_carriers;
    std::vector<std::unique_ptr<threads_of_host>> m_threads;
    std::vector<std::vector<std::uint8_t>> m_states;
    std::vector<std::unique_ptr<Host>> m_hosts;
};

// Whose a byte is: a thread's own in a phase, or guarded by a lock.
struct plan {
    std::vector<std::uint32_t> owners; // by byte: a thread, or the number of all and more: a lock
    unsigned phases = 0;
    unsigned turns = 0; // of each thread in a phase
};

plan random_plan(base::rng& random, unsigned threads) {
    plan made;
    made.phases = 1 + random.below(4);
    made.turns = 1 + random.below(6);
    made.owners.resize(k_bytes);
    for (auto& each : made.owners) each = random.below(threads + std::uint32_t{k_locks});
    return made;
}

template <class Cluster> class program {
public:
    program(Cluster& on, plan const& made, shape const& s, std::uint64_t first)
        : m_on(on), m_plan(made), m_shape(s), m_seed(first), m_end_of_phase(s.all_threads()) {
        for (host_number h = 0; h < s.hosts; ++h)
            m_at_host.push_back(std::make_unique<std::barrier<>>(s.threads));
    }

    // Errors found.
    std::size_t run() {
        base::rng random(m_seed);
        m_sparse = 1 + random.below(64);
        for (std::size_t b = 0; b < k_bytes; b += m_sparse) m_on.store(0, b, start_of(b));
        m_on.at(0).share();
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < m_shape.all_threads(); ++t)
            threads.emplace_back([this, t] { run_at({t, t / m_shape.threads}); });
        for (auto& each : threads) each.join();
        return m_errors.load();
    }

private:
    struct who {
        unsigned thread;
        host_number host;
    };

    static std::uint8_t start_of(std::size_t byte) { return static_cast<std::uint8_t>(byte * 7); }
    // The thread that writes a byte which no lock guards moves on with each phase.
    [[nodiscard]] unsigned writer(std::size_t byte, unsigned phase) const {
        return (m_plan.owners[byte] + phase) % m_shape.all_threads();
    }
    [[nodiscard]] bool is_guarded(std::size_t byte) const {
        return m_plan.owners[byte] >= m_shape.all_threads();
    }
    void run_at(who w) {
        base::rng random(m_seed + w.thread + 1);
        m_on.threads(w.host).begin(w.thread % m_shape.threads);
        acquire(w);
        for (unsigned phase = 0; phase < m_plan.phases; ++phase) {
            for (unsigned turn = 0; turn < m_plan.turns; ++turn) take_turn(w, phase, turn, random);
            meet(w, phase);
            expect_all(w.host, phase + 1);
            meet(w, phase);
        }
    }
    // Writes what is its own, then adds 1 to all that one lock guards.
    void take_turn(who w, unsigned phase, unsigned turn, base::rng& random) {
        host_number const h = w.host;
        if (turn == 0) write_own(w, phase);
        std::uint32_t const chosen = random.below(k_locks);
        std::lock_guard const held(m_locks[chosen]);
        acquire(w);
        for (std::size_t b = 0; b < k_bytes; b += m_sparse)
            if (m_plan.owners[b] == m_shape.all_threads() + chosen)
                m_on.store(h, b, static_cast<std::uint8_t>(m_on.load(h, b) + 1));
        ++m_counts[chosen];
        release(w);
    }
    // All checks come ahead of the accesses, as they do where a loop has them ahead of it.
    void write_own(who w, unsigned phase) {
        auto const each = [&](auto f) {
            for (std::size_t b = 0; b < k_bytes; b += m_sparse)
                if (!is_guarded(b) && writer(b, phase) == w.thread) f(b);
        };
        each([&](std::size_t b) { m_on.check(w.host, b, access_kind::store); });
        each([&](std::size_t b) {
            m_on.put(w.host, b, static_cast<std::uint8_t>(m_on.get(w.host, b) + 1));
        });
    }
    void acquire(who w) {
        m_on.threads(w.host).pass();
        m_on.at(w.host).acquire();
    }
    void release(who w) {
        m_on.threads(w.host).pass();
        m_on.at(w.host).release();
    }
    // One thread of each host releases and acquires what all of them have written and read.
    void meet(who w, unsigned phase) {
        bool const is_first = w.thread % m_shape.threads == phase % m_shape.threads;
        m_on.threads(w.host).pass();
        m_at_host[w.host]->arrive_and_wait();
        if (is_first) release(w);
        m_end_of_phase.arrive_and_wait();
        if (is_first) acquire(w);
        m_at_host[w.host]->arrive_and_wait();
    }
    void expect_all(host_number h, unsigned phases) {
        for (std::size_t b = 0; b < k_bytes; b += m_sparse) {
            unsigned const added =
                is_guarded(b) ? m_counts[m_plan.owners[b] - m_shape.all_threads()] : phases;
            if (m_on.load(h, b) != static_cast<std::uint8_t>(start_of(b) + added)) ++m_errors;
        }
    }

    Cluster& m_on;
    plan const& m_plan;
    shape const& m_shape;
    std::uint64_t m_seed;
    std::barrier<> m_end_of_phase;
    std::vector<std::unique_ptr<std::barrier<>>> m_at_host;
    std::array<std::mutex, k_locks> m_locks;
    std::array<unsigned, k_locks> m_counts{}; // guarded by these
    std::size_t m_sparse = 1;
    std::atomic<std::size_t> m_errors{0};
};

class protocol_of : public ::testing::TestWithParam<shape> {};

template <std::size_t Notices, std::size_t Fetches> void run_programs(shape const& s) {
    using host = basic_coherent_host<Notices, Fetches>;
    using made = cluster<host, basic_shared_file<Notices, Fetches>>;
    print_seed("protocol");
    // A sanitizer, which looks at each access, needs many times as long, and finds what it looks
    // for in a few of these.
    constexpr unsigned k_share = base::k_thread_sanitizer || base::k_address_sanitizer ? 4 : 1;
    for (unsigned k = 0; k * k_share < s.programs; ++k) {
        base::rng random(seed() + k);
        plan const chosen = random_plan(random, s.all_threads());
        made on(s);
        std::size_t const errors = program<made>(on, chosen, s, random.next()).run();
        ASSERT_EQ(errors, 0U) << "with TULLE_TEST_SEED=" << seed() + k;
    }
}

TEST_P(protocol_of, random_programs_is_right) { run_programs<4096, 1024>(GetParam()); }

TEST_P(protocol_of, random_programs_is_right_with_logs_that_are_too_short) {
    run_programs<16, 16>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    hosts, protocol_of,
    ::testing::Values(
        shape{2, 64, 75}, shape{2, 256, 75}, shape{3, 256, 60}, shape{4, 4096, 40},
        shape{2, 256, 50, 2, 4096}, shape{4, 64, 30, 2, 512}, shape{3, 4096, 15, 3, 168},
        shape{3, 256, 30, 3, 4096}, shape{6, 64, 10, 3, 32640}, shape{4, 256, 40, 2, 4096},
        refreshed({3, 256, 60}), refreshed({2, 64, 40}), refreshed({4, 64, 20, 2, 512}),
        refreshed({3, 4096, 10, 3, 168}), with_threads(2, {2, 64, 60}),
        with_threads(3, {2, 1024, 40}), with_threads(2, {3, 256, 20, 2, 512}),
        with_threads(3, {2, 1024, 15, 2, 4096}), with_threads(2, refreshed({3, 64, 15, 2, 512})),
        with_threads(2, refreshed({2, 256, 40})), of_all_sizes({3, 256, 40}),
        of_all_sizes({3, 64, 20, 3, 4096}), of_all_sizes(refreshed({3, 4096, 20, 2, 4096})),
        of_all_sizes(with_threads(2, {2, 1024, 30})),
        of_all_sizes(with_threads(2, {2, 128, 15, 2, 512}))),
    [](auto const& about) {
        shape const& s = about.param;
        bool const is_refreshed = s.outdated == outdated_copies::are_refreshed;
        std::string const threads =
            s.threads > 1 ? "_and_" + std::to_string(s.threads) + "_threads" : "";
        return std::to_string(s.hosts) + "_hosts_on_" + std::to_string(s.machines) + "_with_" +
               std::to_string(s.unit_bytes) + "_bytes" +
               (s.has_all_sizes ? "_and_all_others" : "") + (is_refreshed ? "_refreshed" : "") +
               threads;
    });

// What both hosts have written since they last met, each its own bytes. On the way of each answer
// are two networks, and the host is locked meanwhile.
TEST(protocol, an_acquire_asks_for_all_that_has_changed_together) {
    constexpr std::size_t k_unit = 256, k_programs = 150 * 1024; // in three parts
    for (auto const outdated : {outdated_copies::are_dropped, outdated_copies::are_refreshed}) {
        shape s{2, k_unit, 1, 2, 4096};
        s.outdated = outdated;
        cluster<basic_coherent_host<4096, 1024>, basic_shared_file<4096, 1024>> on(s);
        auto const each_unit = [](auto f) {
            for (std::size_t b = 0; b < k_programs; b += k_unit) f(b);
        };
        each_unit([&](std::size_t b) { on.store(0, b, 1); });
        on.at(0).share();
        on.at(1).acquire();
        for (std::uint8_t turn = 2; turn < 5; ++turn) { // logs name the units more than once
            each_unit([&](std::size_t b) {
                on.store(0, b, turn);                                // the home
                if (b % (3 * k_unit) != 0) on.store(1, b + 1, turn); // the others it only reads
            });
            on.at(0).release();
        }
        unsigned const before = on.carrier(1).waits();
        on.at(1).acquire();
        EXPECT_LE(on.carrier(1).waits(), before + 4);
        each_unit([&](std::size_t b) {
            EXPECT_EQ(on.load(1, b), 4);
            EXPECT_EQ(on.load(1, b + 1), b % (3 * k_unit) != 0 ? 4 : 0);
        });
    }
}

// What is counted of a host's requests, over something that it does.
template <class Cluster> class counted {
public:
    counted(Cluster& on, host_number h) : m_on(on.carrier(h)) { begin(); }
    void begin() {
        m_waits = m_on.waits();
        m_requests = m_on.requests();
    }
    [[nodiscard]] unsigned waits() const { return m_on.waits() - m_waits; }
    [[nodiscard]] unsigned requests() const { return m_on.requests() - m_requests; }

private:
    late_hosts<Cluster> const& m_on;
    unsigned m_waits = 0, m_requests = 0;
};

using two_machines = cluster<basic_coherent_host<4096, 1024>, basic_shared_file<4096, 1024>>;
constexpr std::size_t k_request = 4096; // bytes

// A lock that goes from machine to machine waits for each of them.
TEST(protocol, a_release_of_little_is_one_request_to_the_other_machine) {
    for (auto const outdated : {outdated_copies::are_dropped, outdated_copies::are_refreshed}) {
        constexpr std::size_t k_unit = 256;
        shape s{2, k_unit, 1, 2, k_request};
        s.outdated = outdated;
        two_machines on(s);
        for (std::size_t b = 0; b < 4 * k_unit; b += k_unit) on.store(0, b, 1);
        on.at(0).share();
        on.at(1).acquire();
        for (std::size_t b = 0; b < 4 * k_unit; b += k_unit) on.store(0, b, 2); // the home
        on.at(0).release();
        on.at(1).acquire();
        counted from(on, 1);
        for (std::uint8_t turn = 3; turn < 9; ++turn) {
            for (std::size_t k = 0; k < turn % 4U + 1U; ++k) on.store(1, k * k_unit, turn);
            from.begin();
            on.at(1).release();
            EXPECT_EQ(from.requests(), 1U) << int{turn};
            EXPECT_EQ(from.waits(), 1U) << int{turn};
            from.begin();
            on.at(1).release();
            EXPECT_EQ(from.requests(), 0U) << "nothing has been written since";
            on.at(0).acquire();
            EXPECT_EQ(on.load(0, 0), turn);
        }
    }
}

TEST(protocol, a_release_of_what_nobody_has_read_asks_no_other_machine) {
    two_machines on({2, 256, 1, 2, k_request});
    on.at(0).share();
    on.at(1).acquire();
    on.store(0, 0, 1); // all copies were alike
    on.at(0).release();
    on.at(1).acquire();
    counted from(on, 0);
    for (std::uint8_t turn = 2; turn < 6; ++turn) {
        on.store(0, 0, turn);
        on.at(0).release();
    }
    EXPECT_EQ(from.requests(), 0U);
    EXPECT_EQ(on.load(1, 0), 5);
    on.store(0, 0, 6);
    on.at(0).release();
    EXPECT_EQ(from.requests(), 1U) << "it has been read";
    on.at(1).acquire();
    EXPECT_EQ(on.load(1, 0), 6);
}

// Who is the first to write an array asks for all of it at once.
TEST(protocol, a_check_for_a_run_of_units_without_homes_asks_for_many_together) {
    constexpr std::size_t k_unit = 64, k_units = 2000;
    two_machines on({2, k_unit, 1, 2, k_request});
    on.at(0).share();
    on.at(1).acquire();
    counted from(on, 1); // the other machine keeps the homes
    std::uint64_t const first = TULLE_COHERENT_FIRST;
    on.at(1).make_usable(first, first + k_units * k_unit - 1, access_kind::store);
    EXPECT_GE(from.requests(), 1U);
    EXPECT_LE(from.requests(), k_units / 500U) << "of a byte for each unit";
    from.begin();
    for (std::size_t k = 0; k < k_units; ++k) on.store(1, k * k_unit, 5);
    on.at(1).release();
    EXPECT_LE(from.requests(), 2U) << "they are at home here, and alike";
    on.at(0).acquire();
    for (std::size_t k = 0; k < k_units; k += 100) EXPECT_EQ(on.load(0, k * k_unit), 5);
}

} // namespace
} // namespace tulle::dsm
