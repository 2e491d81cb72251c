// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"

#include "sched/values/names.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

namespace {

using namespace tulle;

std::set<std::string> names_of_os_threads() {
    std::set<std::string> names;
    for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
        names.insert(name);
    }
    return names;
}

TEST(names, workers_are_named_for_debuggers_and_top) {
    initialize({.workers = 4});
    auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::set<std::string> names = names_of_os_threads(); // an OS thread names itself when it starts
    while ((names.count("tulle-1") == 0 || names.count("tulle-2") == 0 ||
            names.count("tulle-3") == 0) &&
           std::chrono::steady_clock::now() < give_up)
        names = names_of_os_threads();
    for (char const* name : {"tulle-1", "tulle-2", "tulle-3"})
        EXPECT_EQ(names.count(name), 1U) << name;
    EXPECT_EQ(names.count("tulle-0"), 0U); // main keeps its own
    finalize();
}

// They were kept for ever.
TEST(names, of_stolen_children_are_forgotten_at_their_end) {
    initialize({.workers = 2});
    thread_id id = 0;
    std::atomic<bool> named{false};
    auto child = fork([&] {
        id = this_thread::get_id();
        this_thread::set_name("stolen");
        named.store(true, std::memory_order_release);
        return this_thread::name();
    });
    compute_until(named);
    EXPECT_EQ(child.join(), "stolen");
    EXPECT_NE(id, this_thread::get_id());
    EXPECT_EQ(sched::find_name(id), "");
    finalize();
}

TEST(names, of_foreign_threads_and_of_the_initializer_are_forgotten_at_their_end) {
    initialize({.workers = 2});
    thread_id id = 0;
    std::thread([&id] {
        id = this_thread::get_id();
        this_thread::set_name("guest");
        EXPECT_EQ(this_thread::name(), "guest");
    }).join();
    EXPECT_EQ(sched::find_name(id), "");
    this_thread::set_name("main");
    id = this_thread::get_id();
    EXPECT_EQ(sched::find_name(id), "main");
    finalize();
    EXPECT_EQ(sched::find_name(id), "");
}

TEST(names, of_a_child_that_runs_as_a_call_is_its_parents) {
    initialize({.workers = 1});
    auto child = fork([] { this_thread::set_name("both"); });
    child.join();
    EXPECT_EQ(this_thread::name(), "both");
    finalize();
}

// More than the table had room for at first, by several at once.
TEST(names, many_and_long_ones_are_found) {
    constexpr thread_id k_first = thread_id{1} << 50, k_each = 500;
    auto const name_of = [](thread_id id) {
        return std::to_string(id) + std::string(id % 2 == 0 ? 100 : 0, 'x');
    };
    auto const forget_odd = [&](thread_id first) {
        for (thread_id id = first; id != first + k_each; ++id) {
            sched::remember_name(id, "another");
            sched::remember_name(id, name_of(id));
            EXPECT_EQ(sched::find_name(id), name_of(id));
            if (id % 2 != 0) sched::forget_name(id);
        }
    };
    std::thread other([&] { forget_odd(k_first + k_each); });
    forget_odd(k_first);
    other.join();
    for (thread_id id = k_first; id != k_first + 2 * k_each; ++id) {
        EXPECT_EQ(sched::find_name(id), id % 2 != 0 ? "" : name_of(id));
        sched::forget_name(id);
        EXPECT_EQ(sched::find_name(id), "");
    }
}

} // namespace
