// SPDX-License-Identifier: Apache-2.0
// The finishes of a place: counts activities and their messages, stops them, and goes on when
// places die. Calls and activities carry the finish that they belong to and the epoch of their
// sender, which are counted here before the message leaves and by the handler before its thread
// begins. Protocols: src/finish/README.md, src/messenger/place_death.md.
#pragma once

#include "base/spin_lock.hpp"
#include "finish/finish_scope.hpp"
#include "finish/losses.hpp"
#include "finish/part_table.hpp"
#include "messenger/endpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tulle::finishes {

using messenger::arrived;
using messenger::call_limit;
using messenger::call_stamp;
using messenger::endpoint;
using messenger::message_kind;
using messenger::message_tag;
using net::packet;

class finish_service {
public:
    explicit finish_service(endpoint& carrier); // throws std::bad_alloc
    finish_service(finish_service const&) = delete;
    finish_service& operator=(finish_service const&) = delete;

    [[nodiscard]] rank here() const noexcept { return m_here; }
    [[nodiscard]] endpoint& carrier() noexcept { return m_carrier; }

    // --- by threads; they throw std::bad_alloc, dead_place ---------------------------------------
    // The calling thread's finish scope goes with it.
    [[nodiscard]] detail::remote_result call(rank to, detail::remote_code code,
                                             wire_writer& arguments, call_limit* within = nullptr);
    void start_activity(finish_scope& scope, rank to, detail::activity_code code,
                        wire_writer& arguments);
    // An activity that lives here goes there instead; `scope` may be gone then. If it throws,
    // nothing is done.
    void pass_on(finish_scope& scope, rank to, detail::activity_code code, wire_writer& arguments);

    // --- accounts of activities (finish_scope.hpp) -----------------------------------------------
    void begin_here(finish_part& part) noexcept;
    void end_here(finish_part& part) noexcept;
    void send_exception(finish_part& part, std::exception_ptr const& e); // throws std::bad_alloc
    void send_stop(finish_part& part);                                   // throws std::bad_alloc
    void withdraw(finish_root& root) noexcept;                           // it ends

private:
    void take_call(packet const& head, std::byte const* payload) noexcept;
    void take_activity(packet const& head, std::byte const* payload) noexcept;
    void take_report(packet const& head, std::byte const* payload) noexcept;
    void take_exception(packet const& head, std::byte const* payload) noexcept;
    void take_account(packet const& head, std::byte const* payload) noexcept;
    void take_begun(packet const& head, std::byte const* payload) noexcept;
    void take_stop(packet const& head, std::byte const* payload) noexcept;
    void place_died(rank dead);

    // Throws std::bad_alloc.
    void send_activity(finish_scope& scope, rank to, detail::activity_code code,
                       wire_writer& arguments);
    TULLE_NOINLINE void send_large(finish_scope& scope, rank to, message_tag tag, packet head,
                                   wire_writer& arguments);
    static void run_activity(arrived& message) noexcept;
    static void fetch_exception(arrived& message) noexcept;
    void fetch_report(arrived const& message) noexcept;
    void fetch_account(arrived const& message) noexcept;
    void apply_report(packet const& head, std::span<std::byte const> told) noexcept;
    void apply_account(packet const& head, std::span<std::byte const> parts) noexcept;

    void enroll(finish_root& root);
    void mourn(rank dead);
    void settle_accounts();
    static void add_account(finish_root& root, account_book::entry const& told);
    void tell_accounts(rank dead);

    [[nodiscard]] finish_scope& arrive(packet const& head);
    [[nodiscard]] finish_scope& arrive_at_home(packet const& head);
    [[nodiscard]] finish_scope& arrive_at_part(packet const& head, rank home);
    [[nodiscard]] bool is_to_tell(packet const& head, rank home) const noexcept;
    void tell_begun(finish_part const& part) noexcept;
    // Counts a message that is sent, and returns the epoch that it belongs to.
    [[nodiscard]] std::uint64_t account_send(finish_scope& scope, rank to) {
        return scope.home == m_here ? account_send_from_home(static_cast<finish_root&>(scope), to)
                                    : account_send_from_part(static_cast<finish_part&>(scope), to);
    }
    [[nodiscard]] std::uint64_t account_send_from_home(finish_root& root, rank to);
    [[nodiscard]] TULLE_NOINLINE std::uint64_t account_send_to_mortal(finish_root& root, rank to);
    [[nodiscard]] std::uint64_t account_send_from_part(finish_part& part, rank to);
    // The caller holds m_parts_lock.
    [[nodiscard]] finish_part& part_of(rank home, std::uint64_t root, bool& is_new) {
        finish_part* const there = m_parts.find(home, root);
        is_new = there == nullptr;
        if (!is_new) return *there;
        bool const can_stop = (root & finish_scope::k_can_stop) != 0;
        return TULLE_UNLIKELY(can_stop) ? begin_stoppable(home, root) : begin_part(home, root);
    }
    [[nodiscard]] finish_part& begin_part(rank home, std::uint64_t root) {
        finish_part& part = m_parts.begin(home, root, m_epochs + 1, m_deaths_known);
        ++m_epochs;
        return part;
    }
    [[nodiscard]] TULLE_NOINLINE finish_part& begin_stoppable(rank home, std::uint64_t root);
    void keep_spare(finish_part& ended) noexcept;
    void stop_part(packet const& head, rank home);
    void stop_orphans(rank dead);
    void watch(finish_root& root);
    void tell_stop(finish_root& root) noexcept;

    endpoint& m_carrier;
    rank m_here;
    base::spin_lock m_parts_lock; // guards the next four, and what is in the parts
    std::uint64_t m_epochs = 0;   // of this place, so far
    part_table m_parts{this};
    std::vector<std::uint64_t> m_reports; // by their homes, so far
    std::uint32_t m_deaths_known = 0;     // when parts begin and end
    base::spin_lock m_roots_lock;         // guards the next two; before the lock of a root
    // Finishes of this place that have sent messages; only if deaths are survived.
    std::set<finish_root*> m_roots;
    account_book m_accounts;
};

// The finish that a message names, at its home.
[[nodiscard]] finish_root& root_at(std::uint64_t word) noexcept;
// That a message belongs to which has come here.
[[nodiscard]] inline batch batch_of(packet const& head, rank here) noexcept {
    return {head.from, here, head.c};
}

// The finishes of the place whose messages these are.
[[nodiscard]] inline finish_service& finishes_of(endpoint const& e) noexcept {
    return *static_cast<finish_service*>(e.handler_of(message_kind::activity));
}

} // namespace tulle::finishes
