// SPDX-License-Identifier: Apache-2.0
// The scope of activities: a finish at its home, or another place's share of it.
#pragma once

#include "base/spin_lock.hpp"
#include "finish/batch_count.hpp"
#include "messenger/context.hpp"
#include "os/machine.hpp"
#include "wait/cancellation_core.hpp"

#include <tulle/cancellation.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/signal.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace tulle::finishes {

class finish_service;

} // namespace tulle::finishes

namespace tulle::detail {

struct finish_scope {
    finish_scope(finishes::finish_service* service, net::rank its_home,
                 std::uint64_t root_address) noexcept
        : at(service), home(its_home), root(root_address) {}

    finishes::finish_service* at; // of the place that this object is at; null: there is only one
    net::rank home;
    // Address of the finish_root there; k_can_stop is added if the finish can be cancelled.
    std::uint64_t root;
    cancellation_reference stop; // then: what its activities here see

    static constexpr std::uint64_t k_can_stop = 1;
    // This bit is set in a message besides, if the sender knows that the finish is cancelled.
    static constexpr std::uint64_t k_is_stopped = 2;
};

} // namespace tulle::detail

namespace tulle::finishes {

using detail::cancellation_reference;
using detail::finish_scope;

// What a finish that can be cancelled has besides.
struct finish_watch {
    finish_watch(detail::limit const* until, finish_scope const* outer); // std::bad_alloc
    finish_watch(finish_watch const&) = delete;
    finish_watch& operator=(finish_watch const&) = delete;
    ~finish_watch();

    // The root's lock guards the next three.
    bool is_watched = false;     // a thread waits for the cancellation, to tell the others
    bool has_told_stop = false;  // so a part that begins is told at once
    std::set<rank> parts;        // that are to be told
    cancellation_reference stop; // the root's
    cancellation_reference end;  // part of `stop`; requested alone, it ends the watch
    signal has_ended{1};
    bool is_limited; // by itself, not only as a part

private:
    struct link : wait::cancellation_node<os::machine> {
        detail::cancellation* to = nullptr;
    };
    void follow(detail::limit const& until);

    cancellation_reference m_limit; // the token's; null: none
    link m_link;                    // in it
};

// It lies in the frame of the thread that waits for it (src/finish/README.md, "Who touches it
// last").
struct finish_root : finish_scope {
    finish_root(finish_service* service, rank here) noexcept
        : finish_scope(service, here, reinterpret_cast<std::uintptr_t>(this)) {}
    finish_root(finish_root const&) = delete;
    finish_root& operator=(finish_root const&) = delete;

    // The limit, if there is one, cancels it, and so does the finish that the caller belongs to.
    // Throws std::bad_alloc.
    void make_cancellable(detail::limit const* until, finish_scope const* outer);
    // The waiting thread calls this, once the finish is over.
    void end_watch() noexcept;
    [[nodiscard]] bool is_limited() const noexcept { return watch != nullptr && watch->is_limited; }

    base::spin_lock lock; // guards the next three
    bool is_told = false; // `over`
    finish_count count;
    std::vector<std::exception_ptr> thrown;
    std::atomic<bool> is_enrolled{false}; // by the service, and then
    std::uint32_t born = 0;               // how many deaths its place knew of
    // The thread that makes the count zero notifies it, outside the lock.
    signal over{1};
    std::unique_ptr<finish_watch> watch; // null: it cannot be cancelled
};

// Lives in its service's table while an activity of the finish lives there; guarded by the table's
// lock.
struct finish_part : finish_scope {
    finish_part(finish_service* service, rank its_home, std::uint64_t root_address,
                std::uint64_t epoch, std::uint32_t deaths)
        : finish_scope(service, its_home, root_address), share(epoch), born(deaths) {}

    // Where this part lies, which has ended and was told, another one of its place can begin.
    void clear() noexcept {
        stop = {};
        share.clear();
    }
    void begin_anew(rank its_home, std::uint64_t root_address, std::uint64_t epoch,
                    std::uint32_t deaths) noexcept {
        home = its_home;
        root = root_address;
        share.begin_anew(epoch);
        born = deaths;
    }

    finish_share share;
    std::uint32_t born;          // how many deaths its place knew of
    finish_part* next = nullptr; // in a list of the table
};

// The change may have been the last one; then the root may be gone afterwards.
template <class Change> void change(finish_root& root, Change apply) {
    bool is_over = false;
    {
        std::lock_guard const held(root.lock);
        apply(root);
        is_over = root.count.is_over() && !std::exchange(root.is_told, true);
    }
    if (is_over) root.over.notify();
}

// Activities of a finish scope at its place: one begins; an exception has left one; one ends, and
// does not use the scope any more.
void begin(finish_scope& scope) noexcept;
void add_exception(finish_scope& scope, std::exception_ptr const& e) noexcept;
void end(finish_scope& scope) noexcept;

// Whether its activities are to end, and none is to begin.
[[nodiscard]] inline bool is_stopped(finish_scope const& scope) noexcept {
    return scope.stop.get() != nullptr && detail::is_cancelled(*scope.stop.get());
}
// The finish in the head of what is sent by its activities.
[[nodiscard]] inline std::uint64_t word_of(finish_scope const& scope) noexcept {
    return is_stopped(scope) ? scope.root | finish_scope::k_is_stopped : scope.root;
}
// Cancels the activities, here at once, and by way of the home everywhere. False: they were before.
// Throws std::bad_alloc.
bool request_stop(finish_scope& scope);

} // namespace tulle::finishes
