// SPDX-License-Identifier: Apache-2.0
// A group of <tulle/spawn_group.hpp>: its permits, the records that were kept, and what becomes of
// them. A thread notifies `outstanding` as its last access.
#pragma once

#include "group/byte_permits.hpp"
#include "group/permits.hpp"
#include "sched/runnable.hpp"
#include "sync/parking.hpp"

#include <tulle/detail/thread_core.hpp>
#include <tulle/signal.hpp>
#include <tulle/spawn_group.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace tulle::group {

using group_permits = permits<sync::parking>;

// A limit by bytes, in place of the permits; and how many of them a walk reserves (byte_limit.cpp).
struct byte_limit {
    explicit byte_limit(std::size_t most) noexcept : permits(most) {}

    byte_permits<sync::parking> permits;
    std::size_t levels = 0; // of a walk; 0: no walks, each thread says what it holds
    std::size_t bytes_each_level = 0;
    std::size_t bytes_of_thread = 0; // record and stack of a thread that does not say it
};

// The records that wait for a permit, of a certain column or of any. Guarded by the lock of the
// permits.
class kept_records {
public:
    explicit kept_records(std::size_t columns) : m_of_column(columns) {}

    void push(std::size_t wanted, sched::runnable& r) noexcept { list_of(wanted).push_back(r); }
    // Takes the oldest record that may have a permit of this column: in turn one that wants this
    // column, and one that takes any.
    [[nodiscard]] sched::runnable* pop(std::size_t column) noexcept {
        m_any_first = !m_any_first;
        for (bool const any : {m_any_first, !m_any_first})
            if (sched::runnable* const r = list_of(any ? k_any_column : column).pop_front())
                return r;
        return nullptr;
    }

private:
    [[nodiscard]] sched::runnable_list& list_of(std::size_t wanted) noexcept {
        return wanted == k_any_column ? m_of_any : m_of_column[wanted];
    }

    std::vector<sched::runnable_list> m_of_column;
    sched::runnable_list m_of_any;
    bool m_any_first = false;
};

} // namespace tulle::group

namespace tulle::detail {

struct group_core {
    group_core(std::size_t columns, bool by_shepherd, std::size_t most, when_full chosen)
        : policy(chosen), is_by_shepherd(by_shepherd), permits(columns, most), kept(columns) {}
    group_core(std::unique_ptr<group::byte_limit> limit, when_full chosen)
        : group_core(1, false, 0, chosen) {
        bytes = std::move(limit);
    }

    when_full const policy;
    bool const is_by_shepherd;                // a column for each shepherd; else one for all
    std::unique_ptr<group::byte_limit> bytes; // null: threads are counted, by the permits
    group::group_permits permits;
    group::kept_records kept;
    sync::parking::lock exception_lock;
    std::exception_ptr exception;
    signal outstanding; // threads admitted, kept ones included, that have not ended
};

// A thread that has lent its permit. It lies in the frame of spawn().
struct group_lender : group::group_permits::lender {
    group_lender(group_core& g, std::size_t column) noexcept : lender(column), group(g) {}
    group_core& group;
};
// What a thread of a group with a limit by bytes has been given, or waits for as a record. Such
// threads lend nothing.
struct group_grant : group::byte_permits<sync::parking>::kept {
    group_grant(group_core& g, std::size_t wanted, std::size_t depth) noexcept
        : group(g), level(depth) {
        bytes = wanted;
    }
    group_core& group;
    std::size_t level;             // of a walk
    thread_core* record = nullptr; // kept
};
static_assert(sizeof(group_grant) <= k_block_size);

// The innermost thread of the group on the caller's stack that has not ended. Null: there is none.
[[nodiscard]] group_member* member_here(group_core const& g) noexcept;
// The library calls of <tulle/spawn_group.hpp> for groups with a limit by bytes.
void enter_with_bytes(group_core& g, group_ticket& t);
void enter_with_bytes_until(group_core& g, group_ticket& t, limit until);
void keep_until_served(group_grant& grant, thread_core* t) noexcept;
void leave_bytes(group_grant& grant, group_permit permit) noexcept;
void end_grant(group_grant& grant) noexcept;

static_assert(sizeof(group_lender) <= sizeof(group_ticket::lender) && alignof(group_lender) <= 8);

} // namespace tulle::detail
