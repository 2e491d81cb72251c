// SPDX-License-Identifier: Apache-2.0
#include "sync/inspect.hpp"

#include "base/sanitize.hpp"
#include "os/careful_read.hpp"
#include "sched/records/thread_record.hpp"
#include "sched/watch/census.hpp"
#include "sync/barrier_core.hpp"
#include "sync/channel_core.hpp"
#include "sync/latch_core.hpp"
#include "sync/locked_addresses.hpp"
#include "sync/mutex_owner.hpp"
#include "sync/parking.hpp"
#include "sync/phased_barrier_core.hpp"
#include "sync/semaphore_core.hpp"
#include "sync/shared_mutex_core.hpp"
#include "sync/signal_core.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace tulle::sync {

namespace {

using detail::mutex_owner;

TULLE_NO_SANITIZE void inspect_barrier(barrier_core<parking> const& b, wait_facts& facts) noexcept {
    static_cast<void>(std::snprintf(facts.numbers, sizeof facts.numbers,
                                    "%llu of %llu have arrived",
                                    static_cast<unsigned long long>(b.arrived()),
                                    static_cast<unsigned long long>(b.expected())));
}

void inspect_latch(latch_core<parking> const& l, wait_facts& facts) noexcept {
    static_cast<void>(std::snprintf(facts.numbers, sizeof facts.numbers, "count %lld",
                                    static_cast<long long>(l.count())));
}

void inspect_signal(signal_core<parking> const& s, wait_facts& facts) noexcept {
    static_cast<void>(
        std::snprintf(facts.numbers, sizeof facts.numbers, "%u notifications to come", s.count()));
}

void say(wait_facts& facts, char const* what) noexcept {
    static_cast<void>(std::snprintf(facts.numbers, sizeof facts.numbers, "%s", what));
}

void inspect_semaphore(semaphore_core<parking> const& s, wait_facts& facts) noexcept {
    static_cast<void>(std::snprintf(facts.numbers, sizeof facts.numbers, "count %llu",
                                    static_cast<unsigned long long>(s.count())));
}

void inspect_shared_mutex(shared_mutex_core<parking> const& m, wait_facts& facts) noexcept {
    if (m.is_written())
        static_cast<void>(std::snprintf(facts.numbers, sizeof facts.numbers, "held for writing"));
    else
        static_cast<void>(std::snprintf(facts.numbers, sizeof facts.numbers,
                                        "held for reading by %llu",
                                        static_cast<unsigned long long>(m.readers())));
}

TULLE_NO_SANITIZE void inspect_phases(phased_barrier_core<parking> const& b,
                                      wait_facts& facts) noexcept {
    static_cast<void>(std::snprintf(facts.numbers, sizeof facts.numbers, "%llu more to arrive",
                                    static_cast<unsigned long long>(b.remaining())));
}

TULLE_NO_SANITIZE void inspect_channel(channel_core<parking> const& c, char const* what,
                                       wait_facts& facts) noexcept {
    item_store const& items = c.seen_items();
    auto const count = static_cast<unsigned long long>(items.count());
    if (items.capacity() == detail::k_unbounded)
        static_cast<void>(
            std::snprintf(facts.numbers, sizeof facts.numbers, "to %s, %llu items", what, count));
    else
        static_cast<void>(std::snprintf(facts.numbers, sizeof facts.numbers,
                                        "to %s, %llu of %llu items", what, count,
                                        static_cast<unsigned long long>(items.capacity())));
}

holder holder_of_address(void const* address) noexcept {
    if constexpr (k_check_addresses)
        return {locked_addresses::instance().holder(reinterpret_cast<std::uintptr_t>(address))};
    return {};
}

// The stack of the last holder is written over by the next one, so it says something only of a
// mutex that is held.
holder holder_in(std::uint64_t owner, bool is_free) noexcept {
    void const* const stack = mutex_owner::stack_in(owner);
    if (stack == nullptr) return {mutex_owner::number_in(owner)};
    return is_free ? holder{} : holder{sched::census::number_on(stack), stack};
}

holder holder_of(tulle::mutex const& m) noexcept {
    return holder_in(mutex_owner::of(m), mutex_owner::is_free(m));
}

holder find_holder_of(tulle::mutex const& m) noexcept {
    std::uint64_t const owner = os::careful_read(mutex_owner::owner_word(m)).value_or(0);
    std::uint32_t is_free = 1; // half of the word that is read
    if (auto const front = os::careful_read(mutex_owner::free_word(m)))
        std::memcpy(&is_free, &*front, sizeof is_free);
    return holder_in(owner, is_free != 0);
}

TULLE_NO_SANITIZE thread_id id_of(sched::thread_record const& t) noexcept { return t.id; }

} // namespace

char const* text(wait::wait_kind kind) noexcept {
    using enum wait::wait_kind;
    switch (kind) {
        case nothing: break;
        case mutex:
        case owned_mutex: return "mutex";
        case condition: return "condition variable";
        case barrier: return "barrier";
        case phased_barrier: return "phased barrier";
        case latch: return "latch";
        case signal: return "signal";
        case once: return "once_flag";
        case word_full:
        case word_empty: return "full/empty word";
        case address_lock: return "lock of address";
        case group_permit: return "permit of a spawn_group";
        case future: return "future";
        case semaphore: return "semaphore";
        case shared_mutex: return "shared mutex";
        case channel_send:
        case channel_receive:
        case channel_select: return "channel";
        case cancellation: return "cancellation";
        case stolen_child: return "forked thread";
        case spawned_thread: return "thread";
        case sleep: return "point in time";
        case descriptor: return "file descriptor";
        case helper: return "call of a helper";
    }
    return "nothing";
}

wait_facts inspect(wait::wait_reason reason) noexcept {
    using enum wait::wait_kind;
    wait_facts facts;
    switch (reason.kind) {
        case owned_mutex:
            facts.holder = holder_of(*static_cast<tulle::mutex const*>(reason.object));
            break;
        case barrier:
            inspect_barrier(*static_cast<barrier_core<parking> const*>(reason.object), facts);
            break;
        case latch:
            inspect_latch(*static_cast<latch_core<parking> const*>(reason.object), facts);
            break;
        case signal:
            inspect_signal(*static_cast<signal_core<parking> const*>(reason.object), facts);
            break;
        case semaphore:
            inspect_semaphore(*static_cast<semaphore_core<parking> const*>(reason.object), facts);
            break;
        case shared_mutex:
            inspect_shared_mutex(*static_cast<shared_mutex_core<parking> const*>(reason.object),
                                 facts);
            break;
        case channel_send:
            inspect_channel(*static_cast<channel_core<parking> const*>(reason.object), "send",
                            facts);
            break;
        case channel_receive:
            inspect_channel(*static_cast<channel_core<parking> const*>(reason.object), "receive",
                            facts);
            break;
        case phased_barrier:
            inspect_phases(*static_cast<phased_barrier_core<parking> const*>(reason.object), facts);
            break;
        case channel_select:
            static_cast<void>(
                std::snprintf(facts.numbers, sizeof facts.numbers, "or for another: select"));
            break;
        case spawned_thread:
            facts.holder.id = id_of(*static_cast<sched::thread_record const*>(reason.object));
            break;
        case word_full: say(facts, "until it is full"); break;
        case word_empty: say(facts, "until it is empty"); break;
        case address_lock: facts.holder = holder_of_address(reason.object); break;
        case descriptor:
            static_cast<void>(std::snprintf(facts.numbers, sizeof facts.numbers, "number %zu",
                                            reinterpret_cast<std::uintptr_t>(reason.object)));
            break;
        case stolen_child: facts.stolen_word = reason.object; break;
        default: break;
    }
    return facts;
}

bool may_have_holder(wait::wait_kind kind) noexcept {
    using enum wait::wait_kind;
    return kind == owned_mutex || kind == spawned_thread ||
           (k_check_addresses && kind == address_lock);
}

holder find_holder(wait::wait_reason reason) noexcept {
    using enum wait::wait_kind;
    switch (reason.kind) {
        case owned_mutex: return find_holder_of(*static_cast<tulle::mutex const*>(reason.object));
        case spawned_thread:
            return {os::careful_read(&static_cast<sched::thread_record const*>(reason.object)->id)
                        .value_or(0)};
        case address_lock: return holder_of_address(reason.object);
        default: return {};
    }
}

} // namespace tulle::sync
