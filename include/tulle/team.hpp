// SPDX-License-Identifier: Apache-2.0
// Collective operations of places: barrier, broadcast, reduce, gather and others, as MPI has them.
//   tulle::team const all;                                   // of all places; also of some
//   at each place, one thread:  double const sum = all.allreduce(mine, std::plus<>());
// Rules: each member's place calls the same operations of a team in the same order, one at a time.
// A rank is a position in the team. Values travel (<tulle/wire.hpp>). If something fails at one
// member - what an operator or the copying of a value throws, std::bad_alloc - the members that
// need what it has not sent throw collective_error; the team can be used on. Where there is no
// memory even to begin one, the program ends with a message.
// Memory ordering: what happens before a member sends happens before the return at those that
// receive from it, directly or through others.
// Contexts: any thread of the process.
#pragma once

#include <tulle/detail/invoke.hpp>
#include <tulle/detail/team_operation.hpp>
#include <tulle/place.hpp>
#include <tulle/wire.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tulle {

// Names its members; copies name the same team. Travels. Made to be used on: as nobody knows where
// copies are, each place keeps a few words for good of each team that it has used.
class team {
public:
    // All places that run threads, by their numbers.
    TULLE_API team();
    // These, in this order. Made at one place and given to the others, as it travels. Errors:
    // std::invalid_argument: none, one of them twice, or a memory place.
    TULLE_API explicit team(std::vector<place> const& members);

    // How many members it has.
    [[nodiscard]] int size() const noexcept { return static_cast<int>(m_members.size()); }
    // Errors: std::out_of_range: there is no such rank.
    [[nodiscard]] place operator[](int rank) const {
        check(rank);
        return place(place_of(rank));
    }
    // Of the calling thread's place. Errors: std::logic_error: it is not a member.
    [[nodiscard]] TULLE_API int rank() const;

    // --- collective. Errors of all: those of rank(); std::out_of_range: there is no such rank;
    // collective_error; std::bad_alloc ----------

    // Messages: at most 3 log4(size) of each member, in log4(size) rounds, rounded up; of all
    // places, none between those of one host that poll each other, as they do for some
    // microseconds before they sleep. Sources: Hensgen, Finkel, Manber: Two algorithms for barrier
    // synchronization, 1988; in more ways than two: Hoefler and others: Fast barrier
    // synchronization for InfiniBand, 2006.
    TULLE_API void barrier() const;

    // The root's value replaces those of the others. size-1 messages, one after the other
    // log2(size).
    template <class T> void broadcast(T& value, int root = 0) const;

    // The values, combined in the order of ranks: op(op(v0, v1), op(v2, v3)) and so on. `op` must
    // be associative.
    template <class T, class Op = std::plus<>>
    [[nodiscard]] std::optional<T> reduce(T value, int root = 0, Op op = {}) const; // at the root
    // As reduce(), and each member gets the result.
    template <class T, class Op = std::plus<>> [[nodiscard]] T allreduce(T value, Op op = {}) const;

    // The values by ranks. gather: at the root; elsewhere nothing.
    template <class T> [[nodiscard]] std::vector<T> gather(T const& value, int root = 0) const;
    // As gather(), and each member gets all values.
    template <class T> [[nodiscard]] std::vector<T> all_gather(T const& value) const;

    // The root has one value for each member; each gets its own. What the others give is
    // ignored.
    // Errors: std::invalid_argument at the root, collective_error elsewhere: the root does not have
    // as many values as there are members.
    template <class T> [[nodiscard]] T scatter(std::vector<T> const& values, int root = 0) const;

    // Each member has one value for each; returns what the others have for this one. Errors: as
    // with scatter, for each member.
    template <class T> [[nodiscard]] std::vector<T> all_to_all(std::vector<T> const& values) const;

    // What travels of it (<tulle/wire.hpp>).
    template <class Archive> void serialize(Archive& archive) { archive(m_name, m_members); }

private:
    using operation = detail::team_operation;

    // The more, the fewer rounds, each of which may be a turn of a processor that places share; and
    // the more messages.
    static constexpr int k_barrier_ways = 4;

    [[nodiscard]] operation begin() const { return {m_name, m_members, rank()}; }
    [[nodiscard]] int place_of(int rank) const noexcept {
        return m_members[static_cast<std::size_t>(rank)];
    }
    TULLE_API void check(int rank) const;
    TULLE_API void check_one_for_each(std::size_t values) const;

    std::uint64_t m_name; // 0: all places
    std::vector<int> m_members;
};

template <class T> void team::broadcast(T& value, int root) const {
    check(root);
    operation all = begin();
    all.spread(value, root, 0);
    all.end();
}

template <class T, class Op> std::optional<T> team::reduce(T value, int root, Op op) const {
    check(root);
    operation all = begin();
    all.combine_at_zero(value, op);
    std::optional<T> result;
    if (root != 0 && all.rank() == 0) all.send(root, 0, value);
    if (all.rank() == root) result = root != 0 ? all.receive<T>(0, 0) : std::move(value);
    all.end();
    return result;
}

template <class T, class Op> T team::allreduce(T value, Op op) const {
    operation all = begin();
    if (std::has_single_bit(static_cast<unsigned>(size()))) {
        all.combine_everywhere(value, op);
    } else {
        all.combine_at_zero(value, op);
        all.spread(value, 0, 0);
    }
    all.end();
    return value;
}

template <class T> std::vector<T> team::gather(T const& value, int root) const {
    check(root);
    operation all = begin();
    std::vector<T> values;
    if (all.rank() == root)
        values = all.receive_all(all.copy_of(value));
    else
        all.send(root, 0, value);
    all.end();
    return values;
}

template <class T> std::vector<T> team::all_gather(T const& value) const {
    operation all = begin();
    for (int distance = 1; distance < size(); ++distance) all.send(all.after(distance), 0, value);
    std::vector<T> values = all.receive_all(all.copy_of(value));
    all.end();
    return values;
}

template <class T> T team::scatter(std::vector<T> const& values, int root) const {
    check(root);
    operation all = begin();
    std::optional<T> mine;
    if (all.rank() != root) {
        mine = all.receive<T>(root, 0);
    } else {
        all.attempt([&] { check_one_for_each(values.size()); });
        all.send_each(values);
        all.attempt([&] { mine = values[static_cast<std::size_t>(root)]; });
    }
    all.end();
    return *std::move(mine);
}

template <class T> std::vector<T> team::all_to_all(std::vector<T> const& values) const {
    operation all = begin();
    all.attempt([&] { check_one_for_each(values.size()); });
    all.send_each(values);
    std::optional<T> mine;
    all.attempt([&] { mine = values[static_cast<std::size_t>(all.rank())]; });
    std::vector<T> received = all.receive_all(std::move(mine));
    all.end();
    return received;
}

} // namespace tulle
