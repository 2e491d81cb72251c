// SPDX-License-Identifier: Apache-2.0
//
// Runs a program over places of this process, so that bodies may travel as their addresses.
#pragma once

#include "messenger/calls.hpp"
#include "program.hpp"

#include <tulle/global_memory.hpp>
#include <tulle/global_mutex.hpp>
#include <tulle/tulle.hpp>

#include <atomic>
#include <exception>
#include <string>
#include <vector>

namespace soak::over_places {

class player {
public:
    explicit player(int places);
    player(player const&) = delete;
    player& operator=(player const&) = delete;
    ~player();

    [[nodiscard]] result run(body const& program);
    [[nodiscard]] int places() const noexcept { return m_places; }

    // By any thread: says what is wrong and counts it.
    void require(bool condition, char const* sentence);

    // What travels: a body, or another object of this process, and whose it is.
    struct task {
        std::uint64_t of, what;
        [[nodiscard]] player& who() const {
            return *reinterpret_cast<player*>(of);
        } // NOLINT(performance-no-int-to-ptr)
        template <class T> [[nodiscard]] T& object() const {
            return *reinterpret_cast<T*>(what);
        } // NOLINT(performance-no-int-to-ptr)
    };
    template <class T> [[nodiscard]] task about(T& object) {
        return {reinterpret_cast<std::uintptr_t>(this), reinterpret_cast<std::uintptr_t>(&object)};
    }

private:
    using futures = std::vector<tulle::future<outcome>>;
    struct answer {
        std::uint64_t value = 0;
        bytes load;
        template <class Archive> void serialize(Archive& archive) { archive(value, load); }
    };

    [[nodiscard]] std::uint64_t run_or_throw(body const& b);
    [[nodiscard]] answer serve(body const& b, int place, bytes const& load);
    void run_activity(body const& b);
    [[nodiscard]] std::uint64_t play(step const& s, std::uint64_t value, futures& left);

    void add(step const& s);
    void lock(step const& s);
    [[nodiscard]] outcome call(step const& s);
    [[nodiscard]] tulle::future<outcome> begin(step const& s);
    [[nodiscard]] static std::uint64_t take(step const& s, std::uint64_t value, futures& left);
    [[nodiscard]] std::uint64_t finish(step const& s, std::uint64_t value);
    void start(tulle::activities& all, step const& s, std::size_t k);
    void compare_thrown(step const& s, std::vector<std::uint64_t> thrown);

    int m_places;
    tulle::global_ptr<std::uint64_t> m_words[k_words];
    std::vector<tulle::global_mutex> m_mutexes;
    std::uint64_t m_counters[k_words] = {}; // each guarded by its mutex
    std::atomic<std::uint64_t> m_wrong{0};
};

// A thread of the caller's place; here the process has several, and a spawned thread belongs to
// none of them.
template <class F> [[nodiscard]] auto async_here(F f) {
    return tulle::async([f, at = tulle::messenger::endpoint_of_caller()] {
        tulle::messenger::place_context context{at, nullptr};
        tulle::messenger::scoped_context const here(context);
        return f();
    });
}

// Steps made of several activities. memory.cpp:
[[nodiscard]] std::uint64_t play_memory(player& of, step const& s);
[[nodiscard]] std::uint64_t play_ilets(player& of, step const& s);
// groups.cpp:
[[nodiscard]] std::uint64_t play_words(player& of, step const& s);
[[nodiscard]] std::uint64_t play_team(player& of, step const& s);
[[nodiscard]] std::uint64_t play_phases(player& of, step const& s);
[[nodiscard]] std::uint64_t play_local(player& of, step const& s);
[[nodiscard]] std::uint64_t play_tree(player& of, step const& s);
[[nodiscard]] std::uint64_t play_turns(player& of, step const& s);

} // namespace soak::over_places
