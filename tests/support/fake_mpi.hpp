// SPDX-License-Identifier: Apache-2.0
// An MPI of one process: what net/mpi_transport.hpp asks of one, with a network that keeps everything in order and takes as much as comes. Nobody
// waits for anybody at the end.
#pragma once

#include "net/mpi_functions.hpp"
#include "net/packet.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <deque>
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

    explicit fake_mpi(rank places) : m_inboxes(places) {}

    // It is the transport's.
    [[nodiscard]] endpoint* join(rank as) { return new endpoint{this, as}; }
    // Sends that do not even begin until release_sends(), as when the network is slow.
    void hold_sends() { m_holds = true; }
    void release_sends() {
        std::lock_guard const held(m_lock);
        m_holds = false;
        for (held_send const& s : m_held) {
            arrive(m_inboxes[s.to], bytes(s.from, s.from + s.size));
            s.of->is_done = true;
        }
        m_held.clear();
    }
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
            &prepare_receive,
            &start_receive,
            &test,
            &forget_receive,
            [](auto*, auto const*, std::size_t, void*) noexcept { return 0; },
            &meet,
            [](auto*, auto&) noexcept { return 0; },
            [](int error, char* text, std::size_t size) noexcept { std::snprintf(text, size, "error %d", error); }};
        return s_all;
    }

private:
    using bytes = std::vector<std::byte>;
    struct operation {
        fake_mpi* network;
        rank at;
        void* into; // of a receive
        bool is_done;
    };
    struct held_send {
        operation* of;
        rank to;
        std::byte const* from;
        std::size_t size;
    };
    struct inbox {
        std::deque<bytes> unexpected;
        std::deque<operation*> receives; // started, oldest first
    };

    static operation* in(request const& r) { return reinterpret_cast<operation*>(r.word); } // NOLINT(performance-no-int-to-ptr)
    static void put(request& r, operation* o) { r.word = reinterpret_cast<std::uintptr_t>(o); }
    static void fill(operation& receive, bytes const& from) {
        std::memcpy(receive.into, from.data(), from.size());
        receive.is_done = true;
    }

    static int send(endpoint* over, rank to, void const* from, std::size_t size, request& begun) noexcept {
        fake_mpi& all = *over->network;
        std::lock_guard const held(all.m_lock);
        auto const* const first = static_cast<std::byte const*>(from);
        auto* const o = new operation{&all, over->here, nullptr, !all.m_holds};
        if (all.m_holds)
            all.m_held.push_back({o, to, first, size});
        else
            all.arrive(all.m_inboxes[to], bytes(first, first + size));
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
    static int prepare_receive(endpoint* over, void* into, std::size_t /*size*/, request& made) noexcept {
        put(made, new operation{over->network, over->here, into, false});
        return 0;
    }
    static int start_receive(request& prepared) noexcept {
        operation& o = *in(prepared);
        std::lock_guard const held(o.network->m_lock);
        inbox& own = o.network->m_inboxes[o.at];
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
        std::lock_guard const held(o->network->m_lock);
        is_done = o->is_done;
        if (!is_done || o->into != nullptr) return 0;
        delete o;
        of = {};
        return 0;
    }
    static void forget_receive(request& started) noexcept {
        operation* const o = in(started);
        {
            std::lock_guard const held(o->network->m_lock);
            std::erase(o->network->m_inboxes[o->at].receives, o);
        }
        delete o;
        started = {};
    }
    static int meet(endpoint* over, request& begun) noexcept {
        put(begun, new operation{over->network, over->here, nullptr, true});
        return 0;
    }

    std::mutex m_lock;
    std::vector<inbox> m_inboxes;
    std::vector<held_send> m_held;
    bool m_holds = false;
    std::size_t m_most_unexpected = 0;
};
