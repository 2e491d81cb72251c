// SPDX-License-Identifier: Apache-2.0
//
// Random programs without data races for coherent memory, on hosts that are OS threads with copies
// of their own, or several with one copy, of this process: each byte has to be what it would be on
// one host. Bytes of one word belong to different threads, so that all write side by side. Some
// hosts are on other machines: what they ask each other is done late, and in another order.
#pragma once

#include "base/rng.hpp"
#include "dsm/basic_coherent_host.hpp"
#include "os/shared_memory.hpp"
#include "stress.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace tulle::dsm::random_programs {

inline constexpr std::uint32_t k_locks = 4;
inline constexpr std::size_t k_bytes = 8 * 1024; // of the memory that programs use

// What was wrong so far but for bytes, and is printed.
inline std::atomic<std::size_t> s_mistakes{0};
inline void expect(bool is_right, char const* sentence) {
    if (is_right) return;
    std::printf("wrong: %s\n", sentence);
    ++s_mistakes;
}

struct shape {
    host_number hosts;
    std::uint64_t unit_bytes;
    unsigned programs = 1;
    host_number machines = 1;   // which have the hosts by turns
    std::size_t most_bytes = 0; // of a request
    outdated_copies outdated = outdated_copies::are_dropped;
    unsigned threads = 1;       // of each host
    bool has_all_sizes = false; // of units, by turns

    [[nodiscard]] unsigned all_threads() const { return hosts * threads; }
};

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
    late_hosts(Cluster& all, host_number here, std::size_t most, std::uint64_t seed)
        : m_all(all), m_here(here), m_most(most), m_seed(seed), m_random(seed + here) {}

    [[nodiscard]] std::size_t most_bytes() const noexcept override { return m_most; }
    void ask(host_number to, std::byte const* request, std::size_t bytes, std::byte* answer,
             std::size_t room) noexcept override {
        expect(std::max(bytes, room) <= m_most, "a request or its answer is too long");
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
            expect(size == one.room, "an answer has another size than the asker expects");
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
        late_hosts others(m_all, m_here, m_most, m_seed + k_apart * ++m_times_beside);
        others.m_answers_to_come = &answers_to_come;
        m_all.threads(m_here).pass();
        f(others, argument);
        expect(answers_to_come.load() == 0, "more answers are expected than were asked for");
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
    std::uint64_t m_seed;
    base::rng m_random;
    std::vector<asked> m_asked;
    unsigned m_waits = 0, m_requests = 0;
    std::atomic<std::uint64_t> m_times_beside{0};
    std::atomic<std::uint32_t>* m_answers_to_come = nullptr;
};

// The memory of a test, and where it lies in the files of machines.
template <std::size_t Notices, std::size_t Fetches> class cluster {
public:
    using host = basic_coherent_host<Notices, Fetches>;
    using carriers = std::function<std::unique_ptr<far_hosts>(cluster&, host_number)>;

    cluster(shape const& s, std::uint64_t seed)
        : cluster(s, [&s, seed](cluster& all, host_number h) {
              return std::make_unique<late_hosts<cluster>>(all, h, s.most_bytes, seed);
          }) {}
    cluster(shape const& s, carriers const& carrier_of)
        : m_chosen(geometry_of(s)),
          m_checks_loads(s.outdated == outdated_copies::are_dropped),
          m_serving(s.hosts) {
        std::vector<os::shared_file> files;
        for (host_number m = 0; m < s.machines; ++m) {
            files.push_back(os::shared_file::create("coherent-test"));
            basic_shared_file<Notices, Fetches> const all(m_chosen, map_of(m, s).near.size());
            expect(files.back().is_open() && files.back().grow(all.size()), "there is no file");
        }
        for (host_number h = 0; h < s.hosts; ++h) {
            m_states.emplace_back(m_chosen.lines());
            m_carriers.push_back(carrier_of(*this, h));
            m_threads.push_back(std::make_unique<threads_of_host>(s.threads));
            host_map map = map_of(h, s);
            map.carrier = m_carriers.back().get();
            m_hosts.push_back(std::make_unique<host>(
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
    host& at(host_number h) { return *m_hosts[h]; }

    threads_of_host& threads(host_number h) { return *m_threads[h]; }
    far_hosts const& carrier(host_number h) const { return *m_carriers[h]; }

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
        expect(errno == k_of_program, "an access has changed errno"); // a load or a store
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
    std::vector<std::unique_ptr<far_hosts>> m_carriers;
    std::vector<std::unique_ptr<threads_of_host>> m_threads;
    std::vector<std::vector<std::uint8_t>> m_states;
    std::vector<std::unique_ptr<host>> m_hosts;
};

// Whose a byte is: a thread's own in a phase, or guarded by a lock. A step is one turn of a thread
// in a phase.
struct plan {
    std::vector<std::uint32_t> owners{}; // by byte: a thread, or the number of all and more: a lock
    unsigned threads = 0;
    unsigned phases = 0;
    unsigned turns = 0;       // of each thread in a phase
    std::set<int> left_out{}; // steps

    [[nodiscard]] int steps() const { return static_cast<int>(phases * threads * turns); }
    [[nodiscard]] bool has(unsigned phase, unsigned thread, unsigned turn) const {
        unsigned const step = (phase * threads + thread) * turns + turn;
        return !left_out.contains(static_cast<int>(step));
    }
};

inline plan random_plan(base::rng& random, unsigned threads) {
    plan made;
    made.threads = threads;
    made.phases = 1 + random.below(4);
    made.turns = 1 + random.below(6);
    made.owners.resize(k_bytes);
    for (auto& each : made.owners) each = random.below(threads + std::uint32_t{k_locks});
    return made;
}

template <class Cluster> class program {
public:
    program(Cluster& on, plan const& made, shape const& s, std::uint64_t seed)
        : m_on(on), m_plan(made), m_shape(s), m_seed(seed), m_end_of_phase(s.all_threads()) {
        for (host_number h = 0; h < s.hosts; ++h)
            m_at_host.push_back(std::make_unique<std::barrier<>>(s.threads));
    }

    // How many bytes were wrong, and what else.
    std::size_t run() {
        std::size_t const before = s_mistakes;
        base::rng random(m_seed);
        m_sparse = 1 + random.below(64);
        for (std::size_t b = 0; b < k_bytes; b += m_sparse) m_on.store(0, b, start_of(b));
        m_on.at(0).share();
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < m_shape.all_threads(); ++t)
            threads.emplace_back([this, t] { run_at({t, t / m_shape.threads}); });
        for (auto& each : threads) each.join();
        return m_errors.load() + s_mistakes - before;
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
            for (unsigned turn = 0; turn < m_plan.turns; ++turn) {
                std::uint32_t const lock = random.below(k_locks);
                if (m_plan.has(phase, w.thread, turn)) take_turn(w, phase, turn, lock);
            }
            meet(w, phase);
            expect_all(w.host, phase + 1);
            meet(w, phase);
        }
    }
    // Writes what is its own, then adds 1 to all that one lock guards.
    void take_turn(who w, unsigned phase, unsigned turn, std::uint32_t chosen) {
        host_number const h = w.host;
        if (turn == 0) write_own(w, phase);
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
        errno = EDOM;
        m_on.at(w.host).acquire();
        expect(errno == EDOM, "an acquire has changed errno"); // LOCK and BARRIER are none of C's
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
        for (std::size_t b = 0; b < k_bytes; b += m_sparse)
            if (m_on.load(h, b) != static_cast<std::uint8_t>(start_of(b) + added_to(b, phases)))
                ++m_errors;
    }
    [[nodiscard]] unsigned added_to(std::size_t byte, unsigned phases) const {
        if (is_guarded(byte)) return m_counts[m_plan.owners[byte] - m_shape.all_threads()];
        unsigned added = 0;
        for (unsigned phase = 0; phase < phases; ++phase)
            if (m_plan.has(phase, writer(byte, phase), 0)) ++added;
        return added;
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

// Logs of so many entries. How many bytes were wrong, and what else.
template <std::size_t Notices, std::size_t Fetches>
std::size_t run_program(shape const& s, plan const& made, std::uint64_t seed) {
    cluster<Notices, Fetches> on(s, seed);
    return program(on, made, s, seed).run();
}

} // namespace tulle::dsm::random_programs
