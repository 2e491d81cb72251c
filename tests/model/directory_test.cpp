// SPDX-License-Identifier: Apache-2.0
//
// Coherent memory by a directory: three hosts, two lines of two bytes. What is stored is there for
// all at once, as in one memory, also where a program stores the value that stands for no data.
#include "dsm/directory.hpp"
#include "explorer/explore.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace tulle;
using machine = model::machine;
using dsm::host_number;
using dsm::line_number;

constexpr host_number k_hosts = 3;
constexpr line_number k_lines = 2;
constexpr std::size_t k_bytes = 2; // of a line
constexpr std::uint8_t k_no_data = 0xEE;

using byte = model::atomic<std::uint8_t>;

// Errors that somebody might make.
enum class flaw { none, stores_lock_nothing, loads_believe_the_value, nothing_is_invalidated };

struct memory {
    std::array<model::atomic<dsm::directory_entry>, k_lines> entries;
    std::array<std::array<byte, k_lines>, k_hosts> tags;
    std::array<std::array<std::array<byte, k_bytes>, k_lines>, k_hosts> copies;

    // All have all lines at first.
    memory() {
        for (auto& entry : entries)
            entry.store((dsm::directory_entry{1} << k_hosts) - 1, std::memory_order_relaxed);
        for (auto& of_host : tags)
            for (auto& tag : of_host) tag.store(dsm::k_not_exclusive, std::memory_order_relaxed);
    }
};

class world {
public:
    using machine = ::machine;

    world(memory& all, host_number here, flaw wrong) : m_all(all), m_here(here), m_wrong(wrong) {}

    [[nodiscard]] host_number here() const { return m_here; }
    model::atomic<dsm::directory_entry>& entry_of(line_number line) {
        return m_all.entries.at(line);
    }
    byte& tag_of(host_number host, line_number line) { return m_all.tags.at(host).at(line); }
    static void pause(unsigned /*turn*/) { machine::pause(); }
    void copy_line(host_number from, line_number line) {
        for (std::size_t b = 0; b < k_bytes; ++b)
            set(m_all.copies.at(m_here).at(line).at(b), get(m_all.copies.at(from).at(line).at(b)));
    }
    void invalidate(host_number host, line_number line) {
        if (m_wrong == flaw::nothing_is_invalidated) return;
        for (std::size_t b = 0; b < k_bytes; ++b)
            set(m_all.copies.at(host).at(line).at(b), k_no_data);
    }
    byte& own(line_number line, std::size_t b) { return m_all.copies.at(m_here).at(line).at(b); }

    static std::uint8_t get(byte& from) { return from.load(std::memory_order_relaxed); }
    static void set(byte& to, std::uint8_t value) { to.store(value, std::memory_order_relaxed); }

private:
    memory& m_all;
    host_number m_here;
    flaw m_wrong;
};

// What checked code does on one host.
class host {
public:
    host(memory& all, host_number here, flaw wrong)
        : m_wrong(wrong), m_world(all, here, wrong), m_directory(m_world) {}

    std::uint8_t load(line_number line, std::size_t b) {
        std::uint8_t found = world::get(m_world.own(line, b));
        if (found != k_no_data || m_wrong == flaw::loads_believe_the_value) return found;
        m_directory.load(line, [&] { found = world::get(m_world.own(line, b)); });
        return found;
    }
    void store(line_number line, std::size_t b, std::uint8_t value) {
        auto const access = [&] { world::set(m_world.own(line, b), value); };
        auto& tag = m_world.tag_of(m_world.here(), line);
        bool const is_exclusive =
            tag.load(std::memory_order_relaxed) == dsm::k_exclusive; // asked, not locked
        if (m_wrong == flaw::stores_lock_nothing && is_exclusive) return access();
        m_directory.store(line, access);
    }

private:
    flaw m_wrong;
    world m_world;
    dsm::directory<world> m_directory;
};

struct hosts {
    memory all;
    std::vector<std::unique_ptr<host>> each;
    std::array<model::atomic<std::uint32_t>, 2> flags;

    explicit hosts(flaw wrong) {
        for (host_number h = 0; h < k_hosts; ++h)
            each.push_back(std::make_unique<host>(all, h, wrong));
    }
    host& at(std::size_t h) { return *each.at(h); }
};

// Each counts in its own byte of one line, and in another line under a lock.
model::test_body count(std::size_t threads, int times, flaw wrong = flaw::none) {
    return [=](model::test& t) {
        auto& all = t.make<hosts>(wrong);
        for (std::size_t k = 0; k < threads; ++k)
            t.thread([&all, k, times] {
                host& h = all.at(k);
                std::size_t const own = k % k_bytes;
                for (int n = 0; n < times; ++n) {
                    if (k < k_bytes) h.store(0, own, static_cast<std::uint8_t>(h.load(0, own) + 1));
                    while (all.flags[0].exchange(1, std::memory_order_acquire) != 0)
                        machine::pause();
                    h.store(1, 0, static_cast<std::uint8_t>(h.load(1, 0) + 1));
                    all.flags[0].store(0, std::memory_order_release);
                }
            });
        t.at_end([=, &all] {
            host& h = all.at(k_hosts - 1);
            model::check(h.load(1, 0) == static_cast<int>(threads) * times, "each turn is counted");
            for (std::size_t k = 0; k < threads && k < k_bytes; ++k)
                model::check(h.load(0, k) == times, "what one host wrote beside others is there");
        });
    };
}

// Two lines by way of three hosts, with no lock but flags: what came first is seen first.
model::test_body pass_on(flaw wrong = flaw::none) {
    return [=](model::test& t) {
        auto& all = t.make<hosts>(wrong);
        t.thread([&all] {
            host& h = all.at(0);
            h.store(0, 0, 1);
            h.store(1, 0, k_no_data); // is data
            all.flags[0].store(1, std::memory_order_release);
        });
        t.thread([&all] {
            host& h = all.at(1);
            while (all.flags[0].load(std::memory_order_acquire) == 0) machine::pause();
            model::check(h.load(1, 0) == k_no_data, "the first has come");
            h.store(0, 1, 2);
            all.flags[1].store(1, std::memory_order_release);
        });
        t.thread([&all] {
            host& h = all.at(2);
            static_cast<void>(h.load(0, 0)); // so that it has a copy
            while (all.flags[1].load(std::memory_order_acquire) == 0) machine::pause();
            model::check(h.load(0, 0) == 1 && h.load(0, 1) == 2 && h.load(1, 0) == k_no_data,
                         "all of it has come");
        });
    };
}

model::options quick(std::size_t executions) {
    return model::without_heavy_fence(model::random(executions));
}

TEST(directory, of_two_exhaustively) {
    model::result const r = model::explore(
        "directory_count_2", model::without_heavy_fence(model::exhaustive(2, 60000)), count(2, 1));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(directory, counts_under_a_lock) {
    model::result const r = model::explore("directory_count", quick(10000), count(3, 2));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(directory, passes_on_what_others_wrote) {
    model::result const r = model::explore("directory_pass_on", quick(10000), pass_on());
    EXPECT_TRUE(r.passed()) << r;
}

void expect_found(char const* name, model::test_body const& body) {
    model::options o = quick(60000);
    o.expect_failure = true;
    model::result const r = model::explore(name, o, body);
    EXPECT_NE(r.message.find("check failed"), std::string::npos) << r;
}

TEST(directory, without_a_part_is_found_to_be_wrong) {
    expect_found("directory_no_lock", count(2, 2, flaw::stores_lock_nothing));
    expect_found("directory_believed", count(2, 2, flaw::loads_believe_the_value));
    expect_found("directory_not_invalidated", count(2, 2, flaw::nothing_is_invalidated));
}

TEST(directory, every_order_is_needed) {
    auto mutants = model::weaken_each("directory_weak_count", quick(4000), count(3, 2));
    mutants = model::found_by_any(
        mutants, model::weaken_each("directory_weak_pass_on", quick(4000), pass_on()));
    std::erase_if(mutants,
                  [](model::mutant const& m) { return m.change.where.file != "directory.hpp"; });
    EXPECT_GE(mutants.size(), 4U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace
