// SPDX-License-Identifier: Apache-2.0
//
// What slabs of hpccg at the places of Tulle need of each other: a plane is pushed into the
// neighbour's inbox, and an i-let there tells the signal for which the neighbour waits; sums are by
// a team of all places.
#pragma once

#include "hpccg_parts.hpp"

#include <tulle.h>
#include <tulle/tulle.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace kernels {

// One at each place, made by all at the same time. Between two exchanges is a sum, so that an inbox
// has been emptied when it is filled again.
class hpccg_places {
public:
    explicit hpccg_places(std::size_t plane)
        : m_neighbours((rank() > 0 ? 1U : 0U) + (rank() + 1 < size() ? 1U : 0U)),
          m_below(plane),
          m_above(plane),
          m_arrived(m_neighbours),
          m_inboxes(m_team.all_gather(
              inboxes{address(m_below.data()), address(m_above.data()), address(&m_arrived)})) {}
    hpccg_places(hpccg_places const&) = delete;
    hpccg_places& operator=(hpccg_places const&) = delete;

    [[nodiscard]] static int rank() { return tulle::here().index(); }
    [[nodiscard]] static int size() { return tulle::place_count(); }
    [[nodiscard]] double sum(double value) const { return m_team.allreduce(value); }

    void exchange(hpccg_faces const& faces) const {
        if (faces.below.size != 0) push(rank() - 1, of(rank() - 1)[k_above], faces.below);
        if (faces.above.size != 0) push(rank() + 1, of(rank() + 1)[k_below], faces.above);
        m_arrived.wait();
        m_arrived.add_signalers(m_neighbours);
        take(m_below, faces.below);
        take(m_above, faces.above);
    }

private:
    enum { k_below, k_above, k_signal };
    using inboxes = std::array<std::uint64_t, 3>; // addresses, at that place

    static std::uint64_t address(void const* p) { return reinterpret_cast<std::uintptr_t>(p); }
    template <class T> static T* at(std::uint64_t address) {
        return reinterpret_cast<T*>(
            address); // NOLINT(performance-no-int-to-ptr): as address() has it
    }
    static void tell(std::uint64_t signal, std::uint64_t /*unused*/) {
        at<tulle::signal>(signal)->notify();
    }
    [[nodiscard]] inboxes const& of(int rank) const {
        return m_inboxes[static_cast<std::size_t>(rank)];
    }

    void push(int to, std::uint64_t inbox, hpccg_face const& face) const {
        tulle_ilet_t const then{&tell, of(to)[k_signal], 0};
        if (tulle_push(to, at<void>(inbox), face.own, face.size * sizeof(double), nullptr, &then) !=
            0)
            throw std::bad_alloc();
    }
    static void take(std::vector<double> const& inbox, hpccg_face const& face) {
        if (face.size != 0) std::memcpy(face.theirs, inbox.data(), face.size * sizeof(double));
    }

    tulle::team m_team{};
    unsigned m_neighbours;
    std::vector<double> m_below; // what comes from there
    std::vector<double> m_above;
    mutable tulle::signal m_arrived;
    std::vector<inboxes> m_inboxes; // of all places
};

// Sums may be under way while their place goes on.
class hpccg_places_async : public hpccg_places {
public:
    using hpccg_places::hpccg_places;

    struct under_way {
        tulle::thread<double> sum;
        [[nodiscard]] double get() { return sum.join(); }
    };
    // Its thread runs at once, until it waits for what others send.
    [[nodiscard]] under_way begin_sum(double value) const {
        return {tulle::spawn({.child_first = true}, [this, value] { return sum(value); })};
    }
};

// At all places at once; what came out at each.
template <class Loops, class Places = hpccg_places>
std::vector<hpccg_outcome> hpccg_at_all_places(hpccg_domain const& whole, int iterations,
                                               int solutions) {
    constexpr auto k_here = [](hpccg_domain const& all, int most, int count) {
        return hpccg_by_parts<Loops>(all, most, count, Places(hpccg_slab{all, 0, all.nz}.plane()));
    };
    std::vector<tulle::future<hpccg_outcome>> under_way;
    for (tulle::place const p : tulle::places())
        under_way.push_back(tulle::async_at(p, k_here, whole, iterations, solutions));
    std::vector<hpccg_outcome> outcomes;
    for (auto& each : under_way) outcomes.push_back(each.get());
    return outcomes;
}

} // namespace kernels
