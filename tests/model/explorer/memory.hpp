// SPDX-License-Identifier: Apache-2.0
//
// The simulated memory: per location all stores so far, per thread the views that say which of them
// a load may still return. Knows nothing of scheduling; the caller supplies the choice among the
// readable stores.
// C++20 semantics, operationally: a release store carries the writer's view, an acquire load joins
// it; a read-modify-write reads the newest store and hands on the view it read (release sequence);
// seq_cst accesses and fences meet in one global view, in execution order.
// Not covered, so never found: load buffering (a load never returns a store that was not executed
// yet), stores that enter the modification order before stores already executed (the weak outcome
// of 2+2W), consume.
#pragma once

#include "view.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace tulle::model {

using std::memory_order;

[[nodiscard]] constexpr bool is_acquire(memory_order o) noexcept {
    return o == std::memory_order_acquire || o == std::memory_order_consume ||
           o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}
[[nodiscard]] constexpr bool is_release(memory_order o) noexcept {
    return o == std::memory_order_release || o == std::memory_order_acq_rel ||
           o == std::memory_order_seq_cst;
}

/// Decides wherever the model leaves something open. Alternative 0 is the least surprising one: the
/// newest value.
class chooser {
public:
    virtual std::size_t choose_value(std::size_t alternatives) = 0;

protected:
    ~chooser() = default;
};

/// Who read and who wrote a variable last, to tell a data race.
struct access_record {
    event written;
    vector_clock read;
};

class memory {
public:
    explicit memory(chooser& decide) noexcept : m_decide(decide) {}

    /// Forgets everything. A thread may return the same outdated store of a location at most
    /// `stale_repeats` times in a row.
    void reset(unsigned stale_repeats);
    void start_thread(thread_index child) noexcept {
        m_threads[child].current = m_threads[0].current;
    }
    void join_thread(thread_index child) noexcept {
        m_threads[0].current.join(m_threads[child].current);
    }

    /// A new location with its initial value; k_no_location when there are too many.
    static constexpr location_index k_no_location = 0xff;
    [[nodiscard]] location_index create(thread_index t, std::uint64_t initial);
    /// The construction of the location happens before now. Each access asks this first.
    [[nodiscard]] bool is_constructed(thread_index t, location_index l) const noexcept;
    /// All accesses to the location happen before now. Asked when it is destroyed.
    [[nodiscard]] bool is_quiet(thread_index t, location_index l) const noexcept;
    void destroy(location_index l) noexcept { m_locations[l].is_destroyed = true; }
    /// False: it was destroyed, or the index comes from a frame that has ended.
    [[nodiscard]] bool exists(location_index l) const noexcept {
        return l < m_used && !m_locations[l].is_destroyed;
    }

    [[nodiscard]] std::uint64_t load(thread_index t, location_index l, memory_order o);
    void store(thread_index t, location_index l, std::uint64_t value, memory_order o);
    /// The newest value, which the caller follows by finish_rmw: together one read-modify-write.
    [[nodiscard]] std::uint64_t newest(location_index l) const noexcept {
        return m_locations[l].stores.back().value;
    }
    void finish_rmw(thread_index t, location_index l, std::uint64_t value, memory_order o);

    struct exchanged {
        bool done;
        std::uint64_t seen;
    };
    struct exchange_request {
        std::uint64_t expected;
        std::uint64_t desired;
        memory_order success;
        memory_order failure;
        bool may_fail; // spuriously, as compare_exchange_weak
    };
    [[nodiscard]] exchanged compare_exchange(thread_index t, location_index l,
                                             exchange_request const& request);

    void fence(thread_index t, memory_order o) noexcept;
    /// What the thread knows now.
    [[nodiscard]] view const& knowledge(thread_index t) const noexcept {
        return m_threads[t].current;
    }
    /// A seq_cst fence on `target`, made by `sender` with what it knew when it asked for it, and
    /// waited for.
    void interrupt(thread_index sender, thread_index target, view const& sent) noexcept;
    /// Orders this thread's accesses among all seq_cst fences, without making anything happen
    /// before anything: what the kernel does inside futex(2).
    void order_globally(thread_index t) noexcept;

    /// False: a data race with an earlier access.
    [[nodiscard]] bool plain_read(thread_index t, access_record& a) noexcept;
    [[nodiscard]] bool plain_write(thread_index t, access_record& a) noexcept;

private:
    struct stored {
        std::uint64_t value;
        view released; // what an acquire load of this store learns
    };
    struct repeated {
        stamp which = 0;
        unsigned times = 0;
    };
    struct location {
        std::vector<stored> stores; // in modification order
        event created;
        vector_clock touched;
        bool is_destroyed = false;
        std::array<repeated, k_max_threads> outdated{};
    };
    struct thread_views {
        view current; // all that happens before the thread's next event
        view pending; // learnt by relaxed loads; joins current at an acquire fence
        view fenced;  // current at the last release fence; what relaxed stores carry
    };

    [[nodiscard]] stamp newest_stamp(location const& l) const noexcept {
        return static_cast<stamp>(l.stores.size() - 1);
    }
    [[nodiscard]] stamp oldest_readable(thread_index t, location_index l,
                                        memory_order o) const noexcept;
    std::uint64_t read(thread_index t, location_index l, stamp s, memory_order o) noexcept;
    void append(thread_index t, location_index l, stored const& s, memory_order o);
    event begin(thread_index t, location_index l) noexcept;
    event next_event(thread_index t) noexcept;

    chooser& m_decide;
    unsigned m_stale_repeats = 0;
    std::size_t m_used = 0;
    // The first m_used are live; the rest keep their storage for the next execution.
    std::vector<location> m_locations;
    std::array<thread_views, k_max_threads> m_threads;
    view m_global; // where seq_cst fences and accesses meet
};

} // namespace tulle::model
