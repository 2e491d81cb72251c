// SPDX-License-Identifier: Apache-2.0
// Cancellation of a finish over places. A part that begins tells home so; home tells the parts that
// it knows of when it is cancelled, and those that begin later at once. All of these messages are
// counted like activities, so the finish is not over before they have come:
// src/finish/README.md.
#include "base/error.hpp"
#include "finish/finish_service.hpp"
#include "messenger/calls.hpp"
#include "sched/cancellation.hpp"

#include <tulle/place.hpp>
#include <tulle/thread.hpp>

#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tulle::finishes {

using messenger::object_at;

namespace {

finish_root& root_named(std::uint64_t word) noexcept {
    return object_at<finish_root>(word & ~finish_scope::k_can_stop);
}

} // namespace

// --- the finish ----------------------------------------------------------------------------------

finish_watch::finish_watch(detail::limit const* until, finish_scope const* outer)
    : stop(detail::open_cancellation(outer != nullptr ? outer->stop.get() : nullptr)),
      end(detail::open_cancellation(stop.get())),
      is_limited(until != nullptr) {
    if (is_limited) follow(*until);
}

void finish_watch::follow(detail::limit const& until) {
    detail::request_cancellation_at(*stop.get(), until.deadline);
    if (until.token == nullptr) return;
    detail::share_cancellation(until.token);
    m_limit = cancellation_reference(until.token);
    m_link.to = stop.get();
    m_link.cancel = [](wait::cancellation_node<os::machine>& n) noexcept {
        detail::request_cancellation(*static_cast<link&>(n).to);
    };
    m_limit.get()->insert(m_link);
}

finish_watch::~finish_watch() {
    if (m_limit.get() != nullptr) m_limit.get()->remove(m_link);
}

void finish_root::make_cancellable(detail::limit const* until, finish_scope const* outer) {
    watch = std::make_unique<finish_watch>(until, outer);
    stop = watch->stop;
    root |= k_can_stop;
}

// No thread begins to watch any more. The watch is this object's last user.
void finish_root::end_watch() noexcept {
    if (watch == nullptr || !watch->is_watched) return;
    detail::request_cancellation(*watch->end.get());
    watch->has_ended.wait();
}

// --- by threads ----------------------------------------------------------------------------------

bool request_stop(finish_scope& scope) {
    if (scope.stop.get() == nullptr)
        throw std::logic_error("tulle::finish: it cannot be cancelled: it has no limit");
    if (is_stopped(scope)) return false;
    bool const is_part = scope.at != nullptr && scope.home != scope.at->here();
    // This comes first, as it may fail: of a part that is cancelled nobody would tell home any
    // more. What home does then may come before the next line.
    if (is_part) scope.at->send_stop(static_cast<finish_part&>(scope));
    return detail::request_cancellation(*scope.stop.get()) || is_part;
}

void finish_service::send_stop(finish_part& part) try {
    packet head;
    head.b = part.root;
    head.c = account_send(part, part.home);
    m_carrier.send(part.home, {message_kind::stop, false, part.home}, head, nullptr);
} catch (dead_place const&) { // nobody waits for the others
}

// --- at home -------------------------------------------------------------------------------------

// The message is counted as an activity that comes and ends. A part that is told later is counted
// in the same step, so that the finish is not over in between.
void finish_service::take_begun(packet const& head, std::byte const* /*payload*/) noexcept try {
    finish_root& root = root_named(head.b);
    bool tells = false;
    bool is_first = false;
    change(root, [&](finish_root& changed) {
        changed.count.arrive_and_end({head.from, m_here, head.c});
        tells = changed.watch->has_told_stop && !m_carrier.is_dead(head.from);
        if (tells) return changed.count.send(m_here, head.from);
        changed.watch->parts.insert(head.from);
        is_first = !std::exchange(changed.watch->is_watched, true);
        if (is_first) changed.count.begin(); // until it is watched
    });
    packet out;
    out.b = head.b;
    if (tells) m_carrier.send(head.from, {message_kind::stop, false, m_here}, out, nullptr);
    if (is_first) watch(root);
} catch (...) {
    base::fatal("no memory to tell place %u that its activities are cancelled",
                static_cast<unsigned>(head.from));
}

void finish_service::watch(finish_root& root) {
    m_carrier.begin_use();
    spawn_detached([this, &root]() noexcept {
        tell_stop(root);
        m_carrier.end_use();
    });
    end(root);
}

// Waits until the finish is cancelled, or over.
void finish_service::tell_stop(finish_root& root) noexcept try {
    static_cast<void>(
        detail::wait_for_cancellation({detail::k_no_deadline, root.watch->end.get()}));
    // Not under the lock: a deterministic run may go on with another thread here.
    bool const stopped = is_stopped(root);
    std::set<rank> parts;
    packet out;
    out.b = root.root;
    {
        std::lock_guard const held(root.lock);
        if (!root.is_told && stopped) {
            root.watch->has_told_stop = true;
            parts.swap(root.watch->parts);
            std::erase_if(parts, [this](rank r) { return m_carrier.is_dead(r); });
            for (rank const r : parts) root.count.send(m_here, r);
        }
    }
    for (rank const r : parts) m_carrier.send(r, {message_kind::stop, false, m_here}, out, nullptr);
    root.watch->has_ended.notify();
} catch (std::bad_alloc const&) {
    base::fatal("no memory to tell other places that their activities are cancelled");
}

// --- what arrives --------------------------------------------------------------------------------

void finish_service::take_stop(packet const& head, std::byte const* /*payload*/) noexcept try {
    message_tag const tag = message_tag::decode(head.kind);
    if (tag.home != m_here) return stop_part(head, tag.home);
    finish_root& root = root_named(head.b);
    detail::request_cancellation(*root.stop.get()); // before it may be over
    change(root, [&](finish_root& changed) {
        changed.count.arrive_and_end({head.from, m_here, head.c});
    });
} catch (std::bad_alloc const&) {
    base::fatal("no memory for the cancellation of activities by place %u",
                static_cast<unsigned>(head.from));
}

// Cancels parts whose home has died: nobody else can cancel them any more, nor waits for them. For
// those that begin later arrive() does it.
void finish_service::stop_orphans(rank dead) {
    std::vector<cancellation_reference> orphans;
    {
        std::lock_guard const held(m_parts_lock);
        m_parts.for_each([&](finish_part const& part) {
            if (part.home == dead && part.stop.get() != nullptr) orphans.push_back(part.stop);
        });
    }
    for (auto const& one : orphans) detail::request_cancellation(*one.get());
}

// The message is like an activity that ends at once. A part that begins with it need not tell that
// it has begun.
void finish_service::stop_part(packet const& head, rank home) {
    finish_scope* scope = nullptr;
    {
        bool is_new = false;
        std::lock_guard const held(m_parts_lock);
        finish_part& part = part_of(home, head.b, is_new);
        part.share.arrive({head.from, m_here, head.c});
        scope = &part;
    }
    detail::request_cancellation(*scope->stop.get());
    end(*scope);
}

} // namespace tulle::finishes
