// SPDX-License-Identifier: Apache-2.0
//
// Where the alternatives of an execution are decided: by a depth-first search, by chance, or by a
// recorded list.
// The list of the alternatives taken determines an execution; written as text it is the token that
// replays it.
#pragma once

#include "view.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::model {

using choices = std::vector<std::uint8_t>;

/// Digits 0-9a-z, one per choice; a run of k > 3 zeros is "-k-"; zeros at the end are left out.
[[nodiscard]] std::string encode(choices const& taken);
[[nodiscard]] choices decode(std::string_view token);

class strategy {
public:
    virtual ~strategy() = default;
    /// Called with two alternatives or more. `may_stay`: candidate 0 is the running thread, and
    /// choosing it is no switch.
    virtual std::size_t choose_thread(std::span<thread_index const> candidates, bool may_stay) = 0;
    virtual std::size_t choose_value(std::size_t alternatives) = 0;
    /// The thread waits for others in a spin loop.
    virtual void gave_way(thread_index) {}
};

/// Visits every execution, in lexical order of its choices.
class depth_first final : public strategy {
public:
    std::size_t choose_thread(std::span<thread_index const> candidates, bool) override {
        return decide(candidates.size());
    }
    std::size_t choose_value(std::size_t alternatives) override { return decide(alternatives); }
    /// To the next execution. False: all were visited.
    [[nodiscard]] bool advance();

private:
    struct branch {
        std::uint8_t taken;
        std::uint8_t alternatives;
    };
    std::size_t decide(std::size_t alternatives);

    std::vector<branch> m_path;
    std::size_t m_depth = 0;
};

/// SplitMix64 (Steele, Lea, Flood, doi:10.1145/2660193.2660195).
class random_source {
public:
    explicit random_source(std::uint64_t seed) noexcept : m_state(seed) {}
    [[nodiscard]] std::uint64_t next() noexcept;
    [[nodiscard]] std::size_t below(std::size_t n) noexcept {
        return static_cast<std::size_t>(next() % n);
    }

private:
    std::uint64_t m_state;
};

/// Half of the seeds walk at random, half use probabilistic concurrency testing: fixed random
/// priorities with a few random points where the leader falls to the end (Burckhardt, Kothari,
/// Musuvathi, Nagarakatte, doi:10.1145/1736020.1736040).
class by_chance final : public strategy {
public:
    /// `horizon`: how many thread choices an execution is expected to have.
    by_chance(std::uint64_t seed, std::size_t horizon);
    std::size_t choose_thread(std::span<thread_index const> candidates, bool may_stay) override;
    std::size_t choose_value(std::size_t alternatives) override;
    void gave_way(thread_index t) override { m_priority[t] = --m_lowest; }

private:
    [[nodiscard]] std::size_t leader(std::span<thread_index const> candidates) const noexcept;

    random_source m_random;
    bool m_by_priority;
    std::size_t m_switch_in;  // a walk leaves the running thread once in so many choices
    std::size_t m_stale_of_4; // so many of four loads return an outdated value
    int m_lowest = 0;
    std::array<int, k_max_threads> m_priority{};
    std::vector<std::size_t> m_falls; // the choices at which the leader falls
    std::size_t m_made = 0;
};

class replayed final : public strategy {
public:
    explicit replayed(choices taken) : m_choices(std::move(taken)) {}
    std::size_t choose_thread(std::span<thread_index const> candidates, bool) override {
        return next(candidates.size());
    }
    std::size_t choose_value(std::size_t alternatives) override { return next(alternatives); }

private:
    std::size_t next(std::size_t alternatives);

    choices m_choices;
    std::size_t m_position = 0;
};

} // namespace tulle::model
