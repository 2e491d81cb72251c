// SPDX-License-Identifier: Apache-2.0
// An MPI of one process: what net/mpi_transport.hpp asks of one, with a network that keeps
// everything in order and takes as much as comes. It tells of deaths as user-level failure
// mitigation has it. Nobody waits for anybody at the end.
#pragma once

#include "net/mpi_functions.hpp"
#include "net/packet.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

class fake_mpi;

struct tulle::net::mpi_endpoint {
    fake_mpi* network;
    rank here;
};

class fake_mpi {
public:
    using rank = tulle::net::rank;
    using request = tulle::net::mpi_request;
    using endpoint = tulle::net::mpi_endpoint;

    explicit fake_mpi(rank places) : m_inboxes(places), m_is_dead(places), m_known(places) {}

    // It is the transport's.
    [[nodiscard]] endpoint* join(rank as) { return new endpoint{this, as}; }
    // Sends that do not even begin until release_sends(), as when the network is slow.
    void hold_sends() { m_holds = true; }
    void release_sends() {
        std::lock_guard const held(m_lock);
        m_holds = false;
        for (held_send const& s : m_held) {
            arrive(*s.to, bytes(s.from, s.from + s.size));
            s.of->is_done = true;
        }
        m_held.clear();
    }
    // What it has sent so far arrives; what is on its way to it does not.
    void kill(rank which) {
        std::lock_guard const held(m_lock);
        m_is_dead[which] = true;
        ++m_deaths;
    }
    // How often somebody has looked whether a receive is done, and it was not.
    [[nodiscard]] std::size_t vain_probes() const { return m_vain_probes; }
    // Messages that no receive was ready for, at most at one time and place.
    [[nodiscard]] std::size_t most_unexpected() const { return m_most_unexpected; }

    [[nodiscard]] static tulle::net::mpi_functions const& functions() {
        static tulle::net::mpi_functions const s_all{
            tulle::net::mpi_functions::k_version,
            [](auto&) noexcept { return 0; },
            []() noexcept {},
            [](auto, auto*&) noexcept { return 0; },
            [](endpoint* closed) noexcept { delete closed; },
            &send,
            &receive,
            &prepare_receive,
            &start_receive,
            &test,
            &forget_receive,
            &forget_receive,
            &find_dead,
            [](auto*, auto const*, std::size_t, void*) noexcept { return 0; },
            &meet,
            [](auto*, auto&) noexcept { return 0; },
            [](int error, char* text, std::size_t size) noexcept {
                std::snprintf(text, size, "error %d", error);
            }};
        return s_all;
    }

private:
    static constexpr rank k_anybody = tulle::net::k_most_places;

    using bytes = std::vector<std::byte>;
    struct operation {
        fake_mpi* network;
        rank at;
        void* into; // of a receive
        bool is_done;
        bool is_once = false; // a receive that is not prepared
        rank peer = k_anybody;
    };
    struct inbox {
        std::deque<bytes> unexpected;
        std::deque<operation*> receives; // started, oldest first
    };
    struct held_send {
        operation* of;
        inbox* to;
        std::byte const* from;
        std::size_t size;
    };
    // Of tag 0 from all senders together, of others from each.
    using inboxes = std::map<std::pair<rank, std::uint32_t>, inbox>;

    [[nodiscard]] inbox& inbox_of(rank to, rank from, std::uint32_t tag) {
        return m_inboxes[to][{tag == 0 ? 0 : from, tag}];
    }

    static operation* in(request const& r) {
        return reinterpret_cast<operation*>(r.word);
    } // NOLINT(performance-no-int-to-ptr)
    static void put(request& r, operation* o) { r.word = reinterpret_cast<std::uintptr_t>(o); }
    static void fill(operation& receive, bytes const& from) {
        std::memcpy(receive.into, from.data(), from.size());
        receive.is_done = true;
    }

    static int send(endpoint* over, rank to, std::uint32_t tag, void const* from, std::size_t size,
                    request& begun) noexcept {
        fake_mpi& all = *over->network;
        std::lock_guard const held(all.m_lock);
        auto const* const first = static_cast<std::byte const*>(from);
        if (all.m_is_dead[to]) return tulle::net::mpi_functions::k_peer_is_dead;
        auto* const o = new operation{&all, over->here, nullptr, !all.m_holds, false, to};
        if (all.m_holds)
            all.m_held.push_back({o, &all.inbox_of(to, over->here, tag), first, size});
        else
            all.arrive(all.inbox_of(to, over->here, tag), bytes(first, first + size));
        put(begun, o);
        return 0;
    }
    void arrive(inbox& at, bytes message) {
        if (at.receives.empty()) {
            at.unexpected.push_back(std::move(message));
            m_most_unexpected = std::max(m_most_unexpected, at.unexpected.size());
            return;
        }
        fill(*at.receives.front(), message);
        at.receives.pop_front();
    }
    static int prepare_receive(endpoint* over, void* into, std::size_t /*size*/,
                               request& made) noexcept {
        put(made, new operation{over->network, over->here, into, false});
        return 0;
    }
    static int receive(endpoint* over, rank from, std::uint32_t tag, void* into, std::size_t size,
                       request& begun) noexcept {
        static_cast<void>(prepare_receive(over, into, size, begun));
        in(begun)->is_once = true;
        in(begun)->peer = from;
        std::lock_guard const held(over->network->m_lock);
        return start_in(over->network->inbox_of(over->here, from, tag), *in(begun));
    }
    static int start_receive(request& prepared) noexcept {
        operation& o = *in(prepared);
        std::lock_guard const held(o.network->m_lock);
        return start_in(o.network->inbox_of(o.at, 0, 0), o);
    }
    static int start_in(inbox& own, operation& o) {
        o.is_done = false;
        own.receives.push_back(&o);
        if (own.unexpected.empty()) return 0;
        fill(o, own.unexpected.front());
        own.receives.pop_back();
        own.unexpected.pop_front();
        return 0;
    }
    static int test(request& of, bool& is_done) noexcept {
        operation* const o = in(of);
        is_done = true;
        if (o == nullptr) return 0;
        fake_mpi& all = *o->network;
        std::lock_guard const held(all.m_lock);
        is_done = o->is_done;
        if (!is_done && o->into != nullptr) ++all.m_vain_probes;
        if (!is_done && o->peer != k_anybody && all.m_is_dead[o->peer])
            return is_done = true, tulle::net::mpi_functions::k_peer_is_dead;
        if (!is_done && o->peer == k_anybody && all.m_known[o->at] != all.m_deaths)
            return tulle::net::mpi_functions::k_somebody_is_dead;
        if (!is_done || (o->into != nullptr && !o->is_once)) return 0;
        delete o;
        of = {};
        return 0;
    }
    static int find_dead(endpoint* over, std::uint32_t* dead, std::uint32_t& count) noexcept {
        fake_mpi& all = *over->network;
        std::lock_guard const held(all.m_lock);
        count = 0;
        for (rank r = 0; r < all.m_is_dead.size(); ++r)
            if (all.m_is_dead[r]) dead[count++] = r;
        all.m_known[over->here] = all.m_deaths;
        return 0;
    }
    static void forget_receive(request& started) noexcept {
        operation* const o = in(started);
        {
            std::lock_guard const held(o->network->m_lock);
            for (auto& [key, box] : o->network->m_inboxes[o->at]) std::erase(box.receives, o);
        }
        delete o;
        started = {};
    }
    static int meet(endpoint* over, request& begun) noexcept {
        put(begun, new operation{over->network, over->here, nullptr, true});
        return 0;
    }

    std::mutex m_lock;
    std::vector<inboxes> m_inboxes; // by their places
    std::vector<held_send> m_held;
    bool m_holds = false;
    std::vector<bool> m_is_dead;
    std::size_t m_deaths = 0;
    std::vector<std::size_t> m_known; // of these, by who has asked
    std::size_t m_most_unexpected = 0;
    std::size_t m_vain_probes = 0;
};
