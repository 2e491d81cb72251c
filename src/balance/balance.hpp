// SPDX-License-Identifier: Apache-2.0
// The work of a place that any place may run, and how a place without work gets some of another
// one's. Records of global forks lie in a steal area, from which places of the same host take them
// without the owner's help; activities, and records for other hosts, are asked for. A place that
// some victims chosen at random have refused tells its lifelines, its neighbours in a hypercube of
// all places, and then sleeps: each of them sends it work when it has any. Places that know of no
// such work send nothing. Protocol: src/balance/README.md.
// Source: Saraswat and others, "Lifeline-based global load balancing", PPoPP 2011. There all work
// is of one kind and in one bag.
#pragma once

#include "balance/activity_bag.hpp"
#include "balance/global_deque.hpp"
#include "balance/work_message.hpp"
#include "base/idle_poller.hpp"
#include "base/intrusive_list.hpp"
#include "base/spin_lock.hpp"
#include "messenger/awaited.hpp"
#include "messenger/idle_work.hpp"
#include "net/order_of_process.hpp"
#include "net/packet.hpp"
#include "net/transport.hpp"
#include "os/fixed_range.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

namespace tulle::messenger {

class endpoint;

} // namespace tulle::messenger

namespace tulle::balance {

using messenger::awaited;
using messenger::endpoint;
using net::packet;
using net::rank;

class balance final : public messenger::idle_work {
public:
    // Null: there is one place. Throws std::bad_alloc.
    explicit balance(endpoint* carrier);
    balance(balance const&) = delete;
    balance& operator=(balance const&) = delete;

    // --- by threads of this place ----------------------------------------------------------------
    // An empty deque for the caller's stack; null: there are no more.
    [[nodiscard]] global_deque* open() noexcept;
    void close(global_deque& empty) noexcept;
    void published(global_deque& own) noexcept; // after a publish() that was false
    void add(std::unique_ptr<any_activity> activity) noexcept;

    // --- by its workers: idle_work ---------------------------------------------------------------
    [[nodiscard]] bool take(bool is_idle) noexcept override;
    [[nodiscard]] bool set_wake_flags() noexcept override;
    [[nodiscard]] bool is_there() const noexcept override;
    void rest() noexcept override;
    void wake_up() noexcept override;

private:
    // A record that has been taken and will run at this place.
    struct stolen {
        rank from;
        std::uint64_t there;                     // its address at its own place
        global_record* here;                     // where its body is
        std::unique_ptr<global_record> own_copy; // or null: it lies in a steal area
    };
    // A record of this place that another one has got by a message. Only where deaths are survived.
    struct given;
    // The request that has not been answered yet.
    struct question : awaited {
        explicit question(std::atomic<bool>& asked) noexcept
            : awaited([](awaited& self) noexcept {
                  // Pairs with ask.
                  static_cast<question&>(self).has_asked.store(false, std::memory_order_release);
              }),
              has_asked(asked) {}
        std::atomic<bool>& has_asked;
    };
    // A neighbour in the hypercube, which is told that this place waits, once at a time.
    struct lifeline {
        explicit lifeline(rank its_end) noexcept : end(its_end) {}
        rank end;
        std::atomic<bool> is_told{false};
    };

    void serve(packet const& head, std::byte const* payload) noexcept; // the handler of messages
    [[nodiscard]] rank here() const noexcept;
    [[nodiscard]] bool is_asymmetric() const noexcept;
    [[nodiscard]] steal_area& own_steal_area() noexcept;
    [[nodiscard]] std::uint32_t draw() noexcept;
    void begin() noexcept;
    static void install() noexcept;
    void count_activities() noexcept;

    [[nodiscard]] bool start_activities(bool is_idle) noexcept;
    [[nodiscard]] bool probe_elsewhere() noexcept;
    [[nodiscard]] bool probe(rank victim) noexcept;
    void ask(rank victim) noexcept;
    void got_answer(rank from, bool by_lifeline, bool has_work) noexcept;
    void set_hungry(bool is_hungry) noexcept;

    void run_activities() noexcept;
    void run(std::unique_ptr<any_activity> activity) noexcept;
    [[nodiscard]] std::unique_ptr<any_activity> take_youngest() noexcept;
    void start(stolen record) noexcept;
    void start(std::unique_ptr<any_activity> activity) noexcept;
    void run(stolen const& record) noexcept;
    void call(global_record& record) const;
    void tell_end(stolen const& record) noexcept;
    void tell_failure(stolen const& record, std::exception_ptr const& e) noexcept;

    [[nodiscard]] bool survives_deaths() const noexcept;
    void greet() noexcept;
    void serve_request(rank from, bool is_lifeline) noexcept;
    void take_record(packet const& head, std::byte const* payload) noexcept;
    void take_result(packet const& head, std::byte const* payload) noexcept;
    void take_failure(packet const& head, std::byte const* payload) noexcept;
    void cross_off(rank from, global_record& record) noexcept;
    [[nodiscard]] bool give(rank to, bool by_lifeline) noexcept;
    [[nodiscard]] bool give_activities(rank to, bool by_lifeline) noexcept;
    [[nodiscard]] bool give_record(rank to, bool by_lifeline) noexcept;
    void keep(std::unique_ptr<any_activity> activity) noexcept;
    [[nodiscard]] bool pass_on(std::unique_ptr<any_activity> activity, rank to) noexcept;
    void remember(rank waiting) noexcept;
    [[nodiscard]] bool is_still_hungry(rank waiting) const noexcept;
    [[nodiscard]] bool forget_one(rank& waiting) noexcept;
    void serve_lifelines() noexcept;
    void tell(rank to, work_message message, std::uint64_t a = 0, std::uint64_t b = 0,
              awaited* answer = nullptr) noexcept;

    endpoint* m_carrier;
    // Of threads here that ran records in memory which another place uses again.
    net::order_of_process m_order;
    net::transport* m_transport;
    rank m_count; // of places that run threads
    std::vector<std::unique_ptr<lifeline>> m_lifelines;
    std::atomic<bool> m_is_used{false};   // somewhere there is, or was, such work
    std::atomic<bool> m_has_asked{false}; // and no answer has come
    question m_question{m_has_asked};
    std::atomic<bool> m_is_hungry{false}; // a worker has rested since all had something to do
    std::atomic<std::uint32_t> m_refusals{0};
    std::atomic<std::uint32_t> m_draws{0};

    base::spin_lock m_lock; // guards the rest
    steal_area m_steal_area;
    std::atomic<bool> m_has_steal_area{false};
    os::fixed_range m_own; // without a transport's
    base::intrusive_stack<&global_deque::next_free> m_free;
    activity_bag m_bag;
    std::atomic<std::size_t> m_activities{0}; // in the bag; written under the lock
    // Taken out of it by this place; written under the lock.
    std::atomic<std::uint64_t> m_begun{0};
    std::atomic<std::uint64_t> m_begun_then{0};
    // Places whose lifelines end here, and that have been refused; room for all.
    std::vector<rank> m_waiting;
    std::atomic<std::size_t> m_waiting_count{0};
};

// The work of the place whose messages these are.
[[nodiscard]] balance& work_of(endpoint const& e) noexcept;
// The work of the calling thread's place; starts the run time if need be.
[[nodiscard]] balance& balance_of_caller();

} // namespace tulle::balance
