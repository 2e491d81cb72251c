// SPDX-License-Identifier: Apache-2.0
// A place: takes messages from a transport and makes threads of them, and counts the activities of finishes. Messages are taken by workers that
// have nothing else to do, and by a service thread of the operating system when there are none.
//   A send never waits and never fails: what finds no room is kept, and sent by whoever polls next. Threads that send much wait until it has gone.
#pragma once

#include "base/idle_poller.hpp"
#include "base/spin_lock.hpp"
#include "net/doorbell.hpp"
#include "net/order_of_process.hpp"
#include "net/transport.hpp"
#include "os/machine.hpp"
#include "remote/awaited.hpp"
#include "remote/balance.hpp"
#include "remote/governor.hpp"
#include "remote/letters.hpp"
#include "remote/losses.hpp"
#include "remote/memory.hpp"
#include "remote/message.hpp"
#include "remote/place_state.hpp"
#include "remote/traffic.hpp"

#include <tulle/detail/limit.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/signal.hpp>

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

namespace tulle::remote {

// While the answer to a call is waited for: told once if the limit is reached. The answer is waited for all the same.
struct call_limit {
    detail::limit until;
    void (*reached)(call_limit& self) noexcept;
};

class engine final : private net::receiver, public base::idle_poller {
public:
    // Throws std::bad_alloc; std::invalid_argument: the transport's messages are too small.
    explicit engine(std::unique_ptr<net::transport> over, memory_settings const& chosen = {});
    engine(engine const&) = delete;
    engine& operator=(engine const&) = delete;
    // Stops the service thread, after the threads that have come from other places have ended. No other thread may begin to use it any more.
    ~engine();

    // More workers look for messages on this host than it has processors: who finds none lets others run.
    void share_processors() noexcept { m_traffic.share_processors(); }
    // The others go on when a place dies, and what needed it throws dead_place. Before start().
    void survive_deaths() noexcept { m_survives = true; }
    void die_with_others() noexcept { m_dies_with_others = true; } // nobody else ends this process, nor its MPI
    [[nodiscard]] bool survives_deaths() const noexcept { return m_survives; }
    // Arguments and results that hold addresses of this place are refused. Before start().
    void search_for_addresses() noexcept { m_searches = true; }
    // Before start(): the service thread polls all the time, on that CPU alone, and workers need not.
    void reserve_processor(int cpu) noexcept { m_reserved_cpu = cpu; }
    void start(); // the service thread; throws std::system_error

    [[nodiscard]] rank here() const noexcept { return m_transport->here(); }
    [[nodiscard]] rank count() const noexcept { return m_transport->count(); }
    // Known to this place. acquire: pairs with place_died
    [[nodiscard]] bool is_dead(rank place) const noexcept { return m_deaths[place].is_dead.load(std::memory_order_acquire); }
    // `of` is dead.
    [[noreturn]] void throw_death(rank of, std::uint64_t lost = 0) const;
    [[nodiscard]] std::size_t most_bytes() const noexcept { return m_transport->most_bytes(); } // that may follow a packet

    // --- by threads; they wait, and throw std::bad_alloc ---------------------------------------------------------------
    // The calling thread's governor goes with it.
    [[nodiscard]] detail::remote_result call(rank to, detail::remote_code code, wire_writer& arguments, call_limit* within = nullptr);
    void start_activity(governor& of, rank to, detail::remote_code code, wire_writer& arguments);

    // --- i-lets and transfers; to other places ------------------------------------------------------------------------
    struct ilet {
        std::uint64_t code = 0; // name (image.hpp); 0: none
        std::uint64_t a = 0;
        std::uint64_t b = 0;
    };
    void start(rank at, ilet const& what) noexcept;
    // Throws std::bad_alloc, with nothing done.
    void push(rank at, std::uint64_t to, std::span<std::byte const> from, ilet const& then_here, ilet const& then_there);
    // 0, EFAULT, or EHOSTDOWN: the place has died.
    [[nodiscard]] int pull(rank at, std::uint64_t from, std::span<std::byte> to) noexcept;

    // --- collective operations ----------------------------------------------------------------------------------------
    void post(rank to, detail::letter const& what, wire_writer& bytes);              // throws std::bad_alloc, with nothing done
    [[nodiscard]] detail::remote_result take(rank from, detail::letter const& what); // throws std::bad_alloc
    [[nodiscard]] net::shared_arrivals* arrivals_of(rank place) noexcept { return m_transport->arrivals_of(place); }
    [[nodiscard]] net::order_of_process& order() noexcept { return m_order; } // of what is seen in memory of other places
    // A thread that has seen others come to the barriers before this one waits for a message now.
    void expect_by_messages(std::uint64_t barrier) noexcept;
    [[nodiscard]] bool shares_processors() const noexcept { return m_traffic.shares_processors(); }
    [[nodiscard]] place_state& state() noexcept { return m_state; }
    // --- global memory ----------------------------------------------------------------------------------------------
    [[nodiscard]] global_memory& memory() noexcept { return m_memory; }
    // --- work that may run at any place -------------------------------------------------------------------------------
    [[nodiscard]] balance& work() noexcept { return m_work; }
    void send_about_work(rank to, packet const& head, std::byte const* payload, awaited* answer = nullptr) noexcept {
        send(to, {message_kind::work}, head, payload, answer);
    }
    // An activity that lives here goes there instead; `of` may be gone then. Throws std::bad_alloc, with nothing done.
    void pass_on(governor& of, rank to, detail::remote_code code, wire_writer& arguments);
    // std::invalid_argument: `sent` holds an address of this place, and is to be searched. Nothing: the place is not known yet.
    void refuse_addresses(std::optional<rank> to, wire_writer const& sent) {
        if (TULLE_UNLIKELY(m_searches)) search(to, sent);
    }
    // For what is sent there. Throws std::bad_alloc.
    [[nodiscard]] detail::payload_bytes room_for_large(rank reader, std::size_t bytes);
    // The engine stays from the one to the other.
    void begin_use() noexcept { m_running.fetch_add(1, std::memory_order_relaxed); } // relaxed: only the end matters
    void end_use() noexcept { m_running.fetch_sub(1, std::memory_order_release); }   // pairs with ~engine
    void send_about_memory(rank to, message_kind kind, packet const& head, std::byte const* payload, awaited* answer = nullptr) noexcept {
        send(to, {kind}, head, payload, answer);
    }
    // The answer has come, from there.
    void cross_off(rank from, awaited& answer) noexcept;
    // By threads after they have sent, so that nobody keeps more and more.
    void let_others_catch_up() noexcept;

    // --- accounts of activities (governor.hpp) ------------------------------------------------------------------------
    void begin_here(finish_part& of) noexcept;
    void end_here(finish_part& of) noexcept;
    void send_exception(finish_part& of, std::exception_ptr const& e); // throws std::bad_alloc
    void send_stop(finish_part& of);                                   // the same
    void withdraw(finish_root& root) noexcept;                         // it ends

    // --- ends ------------------------------------------------------------------------------------------------------
    void tell_end() noexcept; // place 0: to all others; returns when these messages have left, or after a second
    [[nodiscard]] signal& told_end() noexcept { return m_end; }
    void close() noexcept; // the transport, which may wait for the others; nothing moves any more
    // Messages that found no room and have not left yet.
    [[nodiscard]] std::size_t waiting_to_leave() const noexcept { return m_waiting_count.load(std::memory_order_relaxed); } // a snapshot

    // base::idle_poller
    bool poll() noexcept override;
    bool poll_between() noexcept override;
    [[nodiscard]] std::uint64_t expects_until() const noexcept override { return m_traffic.expects_until(); }
    void let_others_run() noexcept override { m_traffic.let_others_run(); }
    [[nodiscard]] bool is_to_sleep_at_once() const noexcept override { return m_traffic.yields_are_slow(); }
    void begin_watch() noexcept override {
        if (!polls_always() && m_watchers.enter()) m_transport->begin_watch();
    }
    void end_watch(bool has_work) noexcept override;
    bool take_work(bool is_idle) noexcept override { return m_work.take(is_idle); }
    void alarm() noexcept override { m_work.alarm(); }
    [[nodiscard]] bool has_work() const noexcept override { return m_work.is_there(); }

private:
    struct pending_call;
    struct arrived;
    struct transfer;
    struct kept_message {
        packet head;
        std::vector<std::byte> payload;
    };
    struct outbox {
        base::spin_lock lock;            // guards the rest
        std::list<kept_message> waiting; // takes no memory while it is empty: there is one for each place
        awaited_list answers;            // from there, that are waited for here; only if deaths are survived
        bool is_closed = false;          // the place has died
    };
    // The engine stays as long as this exists.
    class in_use {
    public:
        explicit in_use(std::atomic<std::uint32_t>& count) noexcept : m_count(count) {
            m_count.fetch_add(1, std::memory_order_relaxed); // relaxed: only its end matters
        }
        in_use(in_use const&) = delete;
        in_use& operator=(in_use const&) = delete;
        ~in_use() { m_count.fetch_sub(1, std::memory_order_release); } // pairs with ~engine

    private:
        std::atomic<std::uint32_t>& m_count;
    };
    struct lent_payload {
        rank to;
        detail::payload_bytes bytes;
    };
    struct death {
        std::atomic<bool> is_dead{false};
        int wait_status = 0; // as from waitpid
    };
    // What follows a packet: where the payload is, if the tag says so, or its bytes.
    struct enclosure {
        payload_reference where;
        std::span<std::byte const> bytes;
    };
    using part_key = std::pair<rank, std::uint64_t>;

    void deliver(packet const& head, std::byte const* payload) noexcept override;
    void send_activity(governor& of, rank to, detail::remote_code code, wire_writer& arguments); // throws std::bad_alloc
    void start_thread(packet const& head, std::byte const* payload) noexcept;
    void answer(packet const& head, std::byte const* payload) noexcept;
    void take_report(packet const& head, std::byte const* payload) noexcept;
    void take_exception(packet const& head, std::byte const* payload) noexcept;
    void take_letter(packet const& head, std::byte const* payload) noexcept;
    void take_account(packet const& head, std::span<std::byte const> parts) noexcept;
    void send_pieces(packet const& head, std::byte const* payload) noexcept;
    void take_fragment(packet const& head, std::byte const* payload) noexcept;
    void count_down(transfer& whole, rank from, std::uint64_t by) noexcept;
    void moved(rank peer, std::uint64_t what, bool was_sent) noexcept override;
    [[nodiscard]] payload_reference lend(rank to, detail::payload_bytes bytes, std::size_t size); // throws std::bad_alloc
    [[nodiscard]] payload_reference lend(rank to, std::span<std::byte const> payload);            // the same
    [[nodiscard]] std::optional<payload_reference> lend_staged(detail::payload_bytes& bytes, std::size_t size) noexcept;
    void take_back(rank from, payload_reference const& what) noexcept;
    void give_back(rank to, payload_reference const& what) noexcept;

    void run(arrived* message) noexcept;
    void run_call(arrived* message) noexcept;
    void run_ilet(arrived* message) noexcept;
    void take_offer(arrived* message) noexcept;
    void run_code(arrived const& message, wire_writer& result);
    void send_back(arrived const& message, message_kind kind, wire_writer& result) noexcept;
    void fetch_report(arrived* message) noexcept;
    void fetch_account(arrived* message) noexcept;
    [[nodiscard]] detail::remote_result fetch(rank from, payload_reference const& what);
    [[nodiscard]] detail::remote_result borrow(rank from, payload_reference const& what) noexcept;
    [[nodiscard]] int copy_from(rank from, std::uint64_t address, std::span<std::byte> to) noexcept;

    void send(rank to, message_tag tag, packet head, std::byte const* payload, awaited* answer = nullptr) noexcept;
    [[nodiscard]] enclosure enclose(rank to, message_tag& tag, wire_writer& payload); // throws std::bad_alloc
    void send(rank to, message_tag tag, packet head, enclosure const& enclosed, awaited* answer = nullptr) noexcept;
    void send_lent(rank to, message_tag tag, packet const& head, std::span<std::byte const> payload); // throws std::bad_alloc
    void send_in_place(rank to, message_tag tag, packet const& head, wire_writer& payload, awaited* answer) noexcept;
    void keep(rank to, packet const& head, std::byte const* payload) noexcept;
    void send_what_was_kept() noexcept;

    void search(std::optional<rank> to, wire_writer const& sent);
    void place_died(rank which, int wait_status) noexcept override;
    [[nodiscard]] awaited_list close_outbox(rank to) noexcept;
    void forget_what_is_lent(rank to) noexcept;
    void drop(message_tag tag, std::byte const* payload, awaited* answer) noexcept;
    void enroll(finish_root& root);
    void mourn(rank dead);
    void settle_accounts();
    static void add_account(finish_root& root, account_book::entry const& of);
    void tell_accounts(rank dead);

    [[nodiscard]] governor* arrive(packet const& head, message_tag tag);
    [[nodiscard]] governor& count_arrival(packet const& head, message_tag tag);
    [[nodiscard]] std::uint64_t account_send(governor& of, rank to); // the epoch that the message belongs to
    [[nodiscard]] finish_part& part_of(rank home, std::uint64_t root, bool& is_new);
    [[nodiscard]] finish_part& arrive_at_part(packet const& head, rank home, packet& begun);
    void take_begun(packet const& head) noexcept;
    void take_stop(packet const& head, message_tag tag) noexcept;
    void stop_part(packet const& head, rank home);
    void stop_orphans(rank dead);
    void watch(finish_root& root);
    void tell_stop(finish_root& root) noexcept;
    void apply_report(packet const& head, std::span<std::byte const> told) noexcept;
    [[nodiscard]] bool poll_alone() noexcept;
    [[nodiscard]] bool poll_in_turn() noexcept;
    [[nodiscard]] bool try_poll() noexcept;
    void leave_watch() noexcept;
    [[nodiscard]] bool polls_always() const noexcept { return m_reserved_cpu >= 0; }
    void service() noexcept;
    void poll_always() noexcept;
    void place_service(pthread_t thread) const noexcept;
    void supervise() noexcept;
    void stop_service() noexcept;
    void wait_for_threads() const;

    std::unique_ptr<net::transport> m_transport;
    int m_reserved_cpu = -1; // none
    global_memory m_memory;
    balance m_work;
    std::vector<std::unique_ptr<outbox>> m_out;
    std::atomic<std::size_t> m_waiting_count{0};
    std::atomic<std::uint32_t> m_running{0}; // threads that may use the engine, though nobody waits for them any more
    base::spin_lock m_polling;
    traffic m_traffic;                            // written under m_polling, as is the next
    std::uint64_t m_barriers = 0;                 // that the traffic knows of
    std::atomic<std::uint64_t> m_rounds{0};       // polls by workers
    net::watch_group<os::machine> m_watchers;     // and the watch that is kept
    std::atomic<bool> m_watch_is_kept{false};     // for a worker that is expected back soon; the service thread sees to it
    base::spin_lock m_lent_lock;                  // guards the next two
    std::map<std::uint64_t, lent_payload> m_lent; // large payloads by their numbers, until the receivers have read them
    std::uint64_t m_lent_so_far = 0;
    base::spin_lock m_parts_lock; // guards the next four, and what is in the parts
    std::uint64_t m_epochs = 0;   // of this place, so far
    std::map<part_key, std::unique_ptr<finish_part>> m_parts;
    std::vector<std::uint64_t> m_reports; // by their homes, so far
    std::uint32_t m_deaths_known = 0;     // when parts begin and end
    bool m_survives = false;
    bool m_dies_with_others = false;
    bool m_searches = false;           // for addresses
    std::unique_ptr<death[]> m_deaths; // by places
    base::spin_lock m_roots_lock;      // guards the next two; before the lock of a root
    std::set<finish_root*> m_roots;    // finishes of this place that have sent messages; only if deaths are survived
    account_book m_accounts;
    letters m_letters;
    net::order_of_process m_order;
    place_state m_state;
    signal m_end{1};
    std::atomic<bool> m_stopping{false};
    std::thread m_service;
};

// That of this process; null: it is alone. Set before threads of other places can come.
[[nodiscard]] engine* engine_of_process() noexcept;
void set_engine_of_process(engine* e) noexcept;

} // namespace tulle::remote
