// SPDX-License-Identifier: Apache-2.0
//
// Coherent memory by a directory: three hosts, two lines of three bytes. What is stored is there
// for all at once, as in one memory, also where a program stores the value that stands for no data,
// and where threads of one host have one copy.
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
constexpr std::size_t k_bytes = 3; // of a line
constexpr std::uint8_t k_no_data = 0xEE;

using byte = model::atomic<std::uint8_t>;

// Errors that somebody might make.
enum class flaw {
    none,
    stores_lock_nothing,
    loads_believe_the_value,
    nothing_is_invalidated,
    tags_of_other_threads_are_let_go,
};

struct memory {
    std::array<model::atomic<dsm::directory_entry>, k_lines> entries;
    std::array<std::array<byte, k_lines>, k_hosts> tags;
    std::array<std::array<std::array<byte, k_bytes>, k_lines>, k_hosts> copies;
    // A store, or a copy that is made, comes after whatever was there before: these are touched as
    // the bytes of copies are, but for loads, which find out whether they have come too early.
    std::array<std::array<std::array<model::plain<char>, k_bytes>, k_lines>, k_hosts> orders;

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
        for (std::size_t b = 0; b < k_bytes; ++b) {
            static_cast<void>(m_all.orders.at(from).at(line).at(b).load());
            set(m_here, line, b, get(m_all.copies.at(from).at(line).at(b)));
        }
    }
    void invalidate(host_number host, line_number line) {
        if (m_wrong == flaw::nothing_is_invalidated) return;
        for (std::size_t b = 0; b < k_bytes; ++b) set(host, line, b, k_no_data);
    }

    std::uint8_t get_own(line_number line, std::size_t b) {
        return get(m_all.copies.at(m_here).at(line).at(b));
    }
    void set_own(line_number line, std::size_t b, std::uint8_t value) {
        set(m_here, line, b, value);
    }

private:
    static std::uint8_t get(byte& from) { return from.load(std::memory_order_relaxed); }
    void set(host_number host, line_number line, std::size_t b, std::uint8_t value) {
        m_all.orders.at(host).at(line).at(b).store(1);
        m_all.copies.at(host).at(line).at(b).store(value, std::memory_order_relaxed);
    }

    memory& m_all;
    host_number m_here;
    flaw m_wrong;
};

// What checked code does on one host, in any of its threads.
class host {
public:
    host(memory& all, host_number here, flaw wrong)
        : m_wrong(wrong), m_world(all, here, wrong), m_directory(m_world) {}

    std::uint8_t load(line_number line, std::size_t b) {
        std::uint8_t found = m_world.get_own(line, b);
        if (found != k_no_data || m_wrong == flaw::loads_believe_the_value) return found;
        m_directory.load(line, [&] { found = m_world.get_own(line, b); });
        return found;
    }
    void store(line_number line, std::size_t b, std::uint8_t value) {
        auto& tag = m_world.tag_of(m_world.here(), line);
        auto const access = [&] { m_world.set_own(line, b, value); };
        bool const is_exclusive =
            tag.load(std::memory_order_relaxed) == dsm::k_exclusive; // asked, not locked
        if (m_wrong == flaw::stores_lock_nothing && is_exclusive) return access();
        if (m_wrong == flaw::tags_of_other_threads_are_let_go)
            return store_as_if_alone(line, access);
        m_directory.store(line, access);
    }

private:
    template <class F> void store_as_if_alone(line_number line, F access) {
        auto& tag = m_world.tag_of(m_world.here(), line);
        if (tag.exchange(dsm::k_locked_tag, std::memory_order_acquire) == dsm::k_exclusive) {
            access();
            return tag.store(dsm::k_exclusive, std::memory_order_release);
        }
        auto const held = m_directory.begin_store(line);
        tag.store(dsm::k_exclusive, std::memory_order_release); // another one may have it
        access();
        dsm::directory<world>::end(held);
    }

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

using places = std::vector<host_number>; // the host of each thread

places each_on_its_own(host_number threads) {
    places made;
    for (host_number h = 0; h < threads; ++h) made.push_back(h);
    return made;
}

// Each counts in its own byte of one line, and in another line under a lock.
model::test_body count(places const& where, int times, flaw wrong = flaw::none) {
    return [=](model::test& t) {
        auto& all = t.make<hosts>(wrong);
        for (std::size_t k = 0; k < where.size(); ++k)
            t.thread([&all, k, times, here = where[k]] {
                host& h = all.at(here);
                for (int n = 0; n < times; ++n) {
                    if (k < k_bytes) h.store(0, k, static_cast<std::uint8_t>(h.load(0, k) + 1));
                    while (all.flags[0].exchange(1, std::memory_order_acquire) != 0)
                        machine::pause();
                    h.store(1, 0, static_cast<std::uint8_t>(h.load(1, 0) + 1));
                    all.flags[0].store(0, std::memory_order_release);
                }
            });
        t.at_end([=, &all] {
            for (std::size_t last = k_hosts; last-- != 0;) {
                host& h = all.at(last);
                model::check(h.load(1, 0) == static_cast<int>(where.size()) * times,
                             "each turn is counted");
                for (std::size_t k = 0; k < where.size() && k < k_bytes; ++k)
                    model::check(h.load(0, k) == times, "what one wrote beside others is there");
            }
        });
    };
}

// Two threads of one host store side by side, while one of another host does or only looks.
enum class other_host { looks, stores };
model::test_body store_together(int times, other_host does, flaw wrong = flaw::none) {
    return [=](model::test& t) {
        auto& all = t.make<hosts>(wrong);
        for (std::size_t b = 0; b < 2; ++b)
            t.thread([&all, b, times] {
                for (int n = 1; n <= times; ++n)
                    all.at(0).store(0, b, static_cast<std::uint8_t>(n));
            });
        t.thread([=, &all] {
            for (int n = 1; n <= times; ++n) {
                if (does == other_host::looks) static_cast<void>(all.at(1).load(0, 0));
                if (does == other_host::stores) all.at(1).store(0, 2, static_cast<std::uint8_t>(n));
            }
        });
        t.at_end([=, &all] {
            std::size_t const stored = does == other_host::stores ? 3 : 2;
            for (std::size_t last = k_hosts; last-- != 0;)
                for (std::size_t b = 0; b < stored; ++b)
                    model::check(all.at(last).load(0, b) == times, "the last store is there");
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
    model::result const r =
        model::explore("directory_count_2", model::without_heavy_fence(model::exhaustive(2, 60000)),
                       count(each_on_its_own(2), 1));
    EXPECT_TRUE(r.passed() && r.is_as_complete_as_asked()) << r;
}

TEST(directory, counts_under_a_lock) {
    model::result const r =
        model::explore("directory_count", quick(10000), count(each_on_its_own(3), 2));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(directory, threads_of_one_host_count_beside_another_host) {
    for (places const& where : {places{0, 0, 1}, places{0, 1, 0, 1}}) {
        model::result const r =
            model::explore("directory_count_together", quick(10000), count(where, 2));
        EXPECT_TRUE(r.passed()) << r;
    }
}

TEST(directory, threads_of_one_host_store_into_one_line_exhaustively) {
    for (other_host const does : {other_host::looks, other_host::stores}) {
        model::result const r = model::explore(
            "directory_together", model::without_heavy_fence(model::exhaustive(2, 60000)),
            store_together(2, does));
        EXPECT_TRUE(r.passed() && r.is_as_complete_as_asked()) << r;
    }
}

TEST(directory, passes_on_what_others_wrote) {
    model::result const r = model::explore("directory_pass_on", quick(10000), pass_on());
    EXPECT_TRUE(r.passed()) << r;
}

void expect_found(char const* name, model::test_body const& body) {
    model::options o = quick(60000);
    o.expect_failure = true;
    model::result const r = model::explore(name, o, body);
    EXPECT_TRUE(r.message.find("check failed") != std::string::npos ||
                r.message.find("data race") != std::string::npos)
        << r;
}

TEST(directory, without_a_part_is_found_to_be_wrong) {
    expect_found("directory_no_lock", count(each_on_its_own(2), 2, flaw::stores_lock_nothing));
    expect_found("directory_believed", count(each_on_its_own(2), 2, flaw::loads_believe_the_value));
    expect_found("directory_not_invalidated",
                 count(each_on_its_own(2), 2, flaw::nothing_is_invalidated));
    expect_found("directory_tag_of_another",
                 store_together(3, other_host::looks, flaw::tags_of_other_threads_are_let_go));
}

TEST(directory, every_order_is_needed) {
    auto mutants =
        model::weaken_each("directory_weak_count", quick(4000), count(each_on_its_own(3), 2));
    mutants = model::found_by_any(
        mutants, model::weaken_each("directory_weak_pass_on", quick(4000), pass_on()));
    mutants =
        model::found_by_any(mutants, model::weaken_each("directory_weak_together", quick(4000),
                                                        count(places{0, 0, 1}, 2)));
    std::erase_if(mutants,
                  [](model::mutant const& m) { return m.change.where.file != "directory.hpp"; });
    EXPECT_GE(mutants.size(), 4U);
    EXPECT_EQ(model::survivors(mutants), "");
}

} // namespace
