// SPDX-License-Identifier: Apache-2.0
// The messages of a place: takes them from a transport and gives each to the handler of its kind.
// Messages are taken by workers that have nothing else to do, and by a service thread of the
// operating system when there are none.
//   A send never waits and never fails: what finds no room is kept, and the next thread that polls
// sends it. Threads that send much wait until it has gone.
//   What uses messages (finishes, global memory, ...) enters its handlers, wants to be told of
// deaths, or has work for idle workers; the endpoint does not know what that is. All of these enter
// themselves before start(), and must stay until stop() has returned.
#pragma once

#include "base/idle_poller.hpp"
#include "base/spin_lock.hpp"
#include "messenger/arrived.hpp"
#include "messenger/awaited.hpp"
#include "messenger/context.hpp"
#include "messenger/handler_table.hpp"
#include "messenger/idle_work.hpp"
#include "messenger/image.hpp"
#include "messenger/message.hpp"
#include "messenger/traffic.hpp"
#include "net/doorbell.hpp"
#include "net/transport.hpp"
#include "os/machine.hpp"

#include <tulle/detail/active_message.hpp>
#include <tulle/detail/limit.hpp>
#include <tulle/detail/remote.hpp>
#include <tulle/signal.hpp>

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <pthread.h>

namespace tulle::messenger {

// While the answer to a call is waited for: told once if the limit is reached. The answer is waited
// for all the same.
struct call_limit {
    detail::limit until;
    void (*reached)(call_limit& self) noexcept;
};

// Whether an address means the same at all places.
struct address_test {
    bool (*holds)(void* object, std::uint64_t address) noexcept;
    void* object;
};

class endpoint final : private net::receiver, public base::idle_poller {
public:
    // `memory_places`: so many, the last ones, have memory and run no threads of the program.
    // Throws std::bad_alloc; std::invalid_argument: the transport's messages are too small.
    explicit endpoint(std::unique_ptr<net::transport> over, rank memory_places = 0);
    endpoint(endpoint const&) = delete;
    endpoint& operator=(endpoint const&) = delete;
    ~endpoint() { stop(); }

    // --- settings; before start() ----------------------------------------------------------------
    // More workers poll on this host than it has processors: one that finds no message lets others
    // run.
    void share_processors() noexcept { m_traffic.share_processors(); }
    // The others go on when a place dies, and what needed it throws dead_place.
    void survive_deaths() noexcept { m_survives = true; }
    // Nobody else ends this process, nor its MPI.
    void die_with_others() noexcept { m_dies_with_others = true; }
    [[nodiscard]] bool survives_deaths() const noexcept { return m_survives; }
    // Arguments and results that hold addresses of this place are refused.
    void search_for_addresses() noexcept { m_searches = true; }
    // The service thread polls all the time, on that CPU alone, and workers need not.
    void reserve_processor(int cpu) noexcept { m_reserved_cpu = cpu; }

    // --- what uses messages enters itself; before start() ----------------------------------------
    // `Take` is a member function of the object: void (packet const&, std::byte const*) noexcept.
    // The polling thread calls it.
    template <auto Take, class Object> void handle(message_kind kind, Object& object) noexcept {
        m_handlers.set<Take>(kind, object);
    }
    // The object that takes messages of that kind.
    [[nodiscard]] void* handler_of(message_kind kind) const noexcept {
        return m_handlers.object_of(kind);
    }
    // `Told` is a member function of the object: void (rank); it may throw std::bad_alloc. The
    // polling thread calls it with each place that has died, once is_dead() says so; those that
    // have entered themselves first are told first. Throws std::bad_alloc.
    template <auto Told, class Object> void on_death(Object& object) {
        m_death_listeners.push_back(
            {[](void* at, rank dead) { (static_cast<Object*>(at)->*Told)(dead); }, &object});
    }
    void set_idle_work(idle_work& work) noexcept { m_idle_work = &work; }
    // These addresses may be sent.
    void set_common_addresses(address_test test) noexcept { m_common_addresses = test; }

    void start(); // the service thread; throws std::system_error
    // Stops the service thread, after the threads that have come from other places have ended. No
    // other thread may begin to use it any more.
    void stop() noexcept;

    [[nodiscard]] rank here() const noexcept { return m_here; }
    [[nodiscard]] rank count() const noexcept { return m_count; }
    // Places that run threads of the program, the first ones.
    [[nodiscard]] rank workplaces() const noexcept { return m_workplaces; }
    [[nodiscard]] bool runs_threads(rank place) const noexcept { return place < m_workplaces; }
    // Something of the program is to run at a place. std::system_error (EOPNOTSUPP): it runs
    // nothing.
    void check_runs_threads(rank place) const {
        if (TULLE_UNLIKELY(!runs_threads(place))) refuse_thread(place);
    }
    [[nodiscard]] net::transport& transport() noexcept { return *m_transport; }
    // Known to this place. acquire: pairs with place_died
    [[nodiscard]] bool is_dead(rank place) const noexcept {
        return m_deaths[place].is_dead.load(std::memory_order_acquire);
    }
    // `place` is dead.
    [[noreturn]] void throw_death(rank place, std::uint64_t lost = 0) const;
    // That may follow a packet, whatever the transport is: a payload_reference, or a shortened
    // exception.
    static constexpr std::size_t k_least_bytes = 512;
    // That may follow a packet.
    [[nodiscard]] std::size_t most_bytes() const noexcept { return m_transport->most_bytes(); }

    // --- calls; by threads, which wait -----------------------------------------------------------
    // Throws what the call throws; std::bad_alloc; dead_place.
    [[nodiscard]] detail::remote_result call(rank to, detail::remote_code code,
                                             wire_writer& arguments, call_limit* within = nullptr,
                                             call_stamp const& stamp = {});

    // --- i-lets and transfers; to other places ---------------------------------------------------
    struct ilet {
        std::uint64_t code = 0; // name (image.hpp); 0: none
        std::uint64_t a = 0;
        std::uint64_t b = 0;
    };
    void start(rank place, ilet const& wanted) noexcept;
    // Throws std::bad_alloc, with nothing done.
    void push(rank place, std::uint64_t to, std::span<std::byte const> from, ilet const& then_here,
              ilet const& then_there);
    // 0, EFAULT, or EHOSTDOWN: the place has died.
    [[nodiscard]] int pull(rank place, std::uint64_t from, std::span<std::byte> to) noexcept;

    // --- sending; by whatever has handlers, in any thread ----------------------------------------
    // `answer`: what waits for it in the sender's frame; it is told if the receiver dies.
    void send(rank to, message_tag tag, packet head, std::byte const* payload,
              awaited* answer = nullptr) noexcept;
    // What follows a packet: where the payload is, if the tag says so, or its bytes.
    struct enclosure {
        payload_reference where;
        std::span<std::byte const> bytes;
    };
    // A payload that the receiver gives back if it is large. Throws std::bad_alloc.
    [[nodiscard]] enclosure enclose(rank to, message_tag& tag, wire_writer& payload);
    void send(rank to, message_tag tag, packet head, enclosure const& enclosed,
              awaited* answer = nullptr) noexcept;
    // It is not sent after all: the payload is as it was.
    void take_out(rank to, message_tag tag, enclosure const& enclosed,
                  wire_writer& payload) noexcept;
    // Throws std::bad_alloc.
    void send_copy(rank to, message_tag tag, packet const& head,
                   std::span<std::byte const> payload);
    // The answer has come, from there.
    void cross_off(rank from, awaited& answer) noexcept;
    // An active message for which nobody waits (detail/active_message.hpp); to another place.
    void tell(rank to, detail::active_function f, std::span<std::byte const> told) noexcept;
    // Threads call this after they have sent, so that no messages pile up without limit.
    void let_others_catch_up() noexcept;
    // std::invalid_argument: `sent` holds an address of this place, and is to be searched. Nothing:
    // the place is not known yet.
    void refuse_addresses(std::optional<rank> to, wire_writer const& sent) {
        if (TULLE_UNLIKELY(m_searches)) search(to, sent);
    }
    // Memory for a payload that is sent to `reader`. Throws std::bad_alloc.
    [[nodiscard]] detail::payload_bytes room_for_large(rank reader, std::size_t bytes);

    // --- handling --------------------------------------------------------------------------------
    // Starts a thread that runs `body` and belongs to `scope`.
    void start_thread(packet const& head, std::byte const* payload, arrived::body body,
                      finish_scope* scope = nullptr) noexcept;
    // Such a thread calls these. run_code() finds the code that the message names and calls
    // `run(code, arguments)`. Throws what that throws; remote_error: this place has no such code.
    template <class Run> void run_code(arrived const& message, Run run) {
        void* const code = code_of(message.head.handler);
        if (TULLE_UNLIKELY(code == nullptr)) refuse_code(message.head.from);
        if (TULLE_LIKELY(!message.tag().by_reference)) {
            wire_reader in({message.payload(), message.head.size});
            return run(code, in);
        }
        detail::remote_result const arguments =
            fetch(message.head.from, reference_in(message.payload()));
        wire_reader in(arguments.bytes());
        run(code, in);
    }
    // Runs the code of a call, and sends its result, or what it has thrown, back to the caller.
    void serve_call(arrived const& message) noexcept;
    // A thread calls this to get what a payload_reference means. Throws std::bad_alloc; dead_place.
    [[nodiscard]] detail::remote_result room_for(rank from, payload_reference const& reference);
    [[nodiscard]] detail::remote_result fetch(rank from, payload_reference const& reference);

    // stop() waits for each thread that has begun to use the endpoint. Threads for which nobody
    // else waits call these.
    // relaxed: only the end matters
    void begin_use() noexcept { m_running.fetch_add(1, std::memory_order_relaxed); }
    // Pairs with stop.
    void end_use() noexcept { m_running.fetch_sub(1, std::memory_order_release); }
    class in_use {
    public:
        explicit in_use(endpoint& used) noexcept : m_used(used) { used.begin_use(); }
        in_use(in_use const&) = delete;
        in_use& operator=(in_use const&) = delete;
        ~in_use() { m_used.end_use(); }

    private:
        endpoint& m_used;
    };

    // The calling OS thread gives a message to its handler at this moment.
    [[nodiscard]] static bool delivers() noexcept;

    // --- progress --------------------------------------------------------------------------------
    // A thread that has seen others come to the barriers before this one waits for a message now.
    void expect_by_messages(std::uint64_t barrier) noexcept;
    [[nodiscard]] bool shares_processors() const noexcept { return m_traffic.shares_processors(); }
    // Messages that found no room and have not left yet.
    // A snapshot.
    [[nodiscard]] std::size_t waiting_to_leave() const noexcept {
        return m_waiting_count.load(std::memory_order_relaxed);
    }

    // --- ends ------------------------------------------------------------------------------------
    // place 0: to all others; returns when these messages have left, or, if it may give up, after a
    // second
    void tell_end(bool may_give_up) noexcept;
    [[nodiscard]] signal& told_end() noexcept { return m_end; }
    void close() noexcept; // the transport, which may wait for the others; nothing moves any more
    // From the first of these on that this place has called: nobody answers what it asks. Who asks
    // just before may wait for ever.
    // relaxed, both: it says no more
    [[nodiscard]] bool has_ended() const noexcept {
        return m_ended_by.load(std::memory_order_relaxed) != 0;
    }
    // By the calling OS thread.
    [[nodiscard]] bool has_ended_by_caller() const noexcept;

    // base::idle_poller
    bool poll() noexcept override;
    bool poll_between() noexcept override;
    [[nodiscard]] std::uint64_t expects_until() const noexcept override {
        return m_traffic.expects_until();
    }
    void let_others_run() noexcept override { m_traffic.let_others_run(); }
    [[nodiscard]] bool is_to_sleep_at_once() const noexcept override {
        return m_traffic.yields_are_slow();
    }
    void begin_watch() noexcept override {
        if (!polls_always() && m_watchers.enter()) m_transport->begin_watch();
    }
    void end_watch(bool has_work) noexcept override;
    // The caller goes to sleep beside the service thread: unless others watch, the next message
    // wakes that one.
    void leave_kept_watch() noexcept;
    bool take_work(bool is_idle) noexcept override {
        return m_idle_work != nullptr && m_idle_work->take(is_idle);
    }
    [[nodiscard]] bool set_wake_flags() noexcept override {
        return m_idle_work != nullptr && m_idle_work->set_wake_flags();
    }
    [[nodiscard]] bool has_work() const noexcept override {
        return m_idle_work != nullptr && m_idle_work->is_there();
    }

private:
    struct pending_call;
    struct transfer;
    struct kept_message {
        packet head;
        std::vector<std::byte> payload;
    };
    struct outbox {
        base::spin_lock lock; // guards the rest
        // Takes no memory while it is empty: there is one for each place.
        std::list<kept_message> waiting;
        // What threads of this place wait for from that one; kept only if deaths are survived.
        awaited_list answers;
        bool is_closed = false; // the place has died
    };
    struct lent_payload {
        rank to;
        detail::payload_bytes bytes;
        bool may_return = false; // by take_out(): the death of its reader does not free it
    };
    struct death {
        std::atomic<bool> is_dead{false};
        int wait_status = 0; // as from waitpid
    };
    struct death_listener {
        void (*told)(void* object, rank dead);
        void* object;
    };

    void deliver(packet const& head, std::byte const* payload) noexcept override {
        m_handlers.deliver(head, payload);
    }
    void enter_handlers() noexcept;
    // Of a request or an answer, a multiple of 16.
    [[nodiscard]] std::size_t most_active() const noexcept;
    void take_call(packet const& head, std::byte const* payload) noexcept;
    void take_ilet(packet const& head, std::byte const* payload) noexcept;
    void take_offer(packet const& head, std::byte const* payload) noexcept;
    void take_answer(packet const& head, std::byte const* payload) noexcept;
    void take_release(packet const& head, std::byte const* payload) noexcept;
    void take_fragment(packet const& head, std::byte const* payload) noexcept;
    void take_active(packet const& head, std::byte const* payload) noexcept;
    void take_active_answer(packet const& head, std::byte const* payload) noexcept;
    void take_end(packet const& head, std::byte const* payload) noexcept;
    void send_pieces(packet const& head, std::byte const* payload) noexcept;
    void count_down(transfer& whole, rank from, std::uint64_t by) noexcept;
    void moved(rank peer, std::uint64_t cookie, bool was_sent) noexcept override;
    void receive_offer(arrived const& message) noexcept;
    void send_back(arrived const& message, message_kind kind, wire_writer& result) noexcept;

    // Both throw std::bad_alloc.
    [[nodiscard]] payload_reference lend(rank to, detail::payload_bytes&& bytes, std::size_t size,
                                         bool may_return);
    void give_up(payload_reference const& reference) noexcept;
    [[nodiscard]] payload_reference lend(rank to, std::span<std::byte const> payload);
    [[nodiscard]] std::optional<payload_reference> lend_staged(detail::payload_bytes& bytes,
                                                               std::size_t size) noexcept;
    void take_back(rank from, payload_reference const& reference) noexcept;
    void give_back(rank to, payload_reference const& reference) noexcept;
    [[nodiscard]] detail::remote_result borrow(rank from,
                                               payload_reference const& reference) noexcept;
    [[nodiscard]] int copy_from(rank from, std::uint64_t address, std::span<std::byte> to) noexcept;

    void send_in_place(rank to, message_tag tag, packet const& head, wire_writer& payload,
                       awaited* answer) noexcept;
    void keep(rank to, packet const& head, std::byte const* payload) noexcept;
    void send_what_was_kept() noexcept;
    void search(std::optional<rank> to, wire_writer const& sent);
    [[noreturn]] void refuse_thread(rank place) const;
    [[noreturn]] TULLE_COLD void refuse_code(rank from) const;

    void place_died(rank dead, int wait_status) noexcept override;
    [[nodiscard]] awaited_list close_outbox(rank to) noexcept;
    void forget_what_is_lent(rank to) noexcept;
    void drop(message_tag tag, std::byte const* payload, awaited* answer) noexcept;

    [[nodiscard]] bool poll_alone() noexcept;
    [[nodiscard]] bool poll_in_turn() noexcept;
    [[nodiscard]] bool try_poll() noexcept;
    void leave_watch() noexcept;
    [[nodiscard]] bool polls_always() const noexcept { return m_reserved_cpu >= 0; }
    void service() noexcept;
    void poll_always() noexcept;
    void pin_service(pthread_t thread) const noexcept;
    void supervise() noexcept;
    void stop_service() noexcept;
    void wait_for_threads() const noexcept;

    std::unique_ptr<net::transport> m_transport;
    rank m_here;
    rank m_count;
    rank m_workplaces;
    handler_table m_handlers; // what follows, up to m_out, is only read after start()
    std::vector<death_listener> m_death_listeners;
    idle_work* m_idle_work = nullptr;
    address_test m_common_addresses{nullptr, nullptr};
    int m_reserved_cpu = -1; // none
    bool m_survives = false;
    bool m_dies_with_others = false;
    bool m_searches = false; // for addresses
    std::vector<std::unique_ptr<outbox>> m_out;
    std::atomic<std::size_t> m_waiting_count{0};
    // Threads that may use the endpoint, though nobody waits for them any more.
    std::atomic<std::uint32_t> m_running{0};
    base::spin_lock m_polling;
    // Of a request and an answer, once one has come; for the polling thread.
    std::unique_ptr<std::byte[]> m_active_room;
    traffic m_traffic;                        // written under m_polling, as is the next
    std::uint64_t m_barriers = 0;             // that the traffic knows of
    std::atomic<std::uint64_t> m_rounds{0};   // polls by workers
    net::watch_group<os::machine> m_watchers; // and the watch that is kept
    // A watch is kept for a worker that is expected back soon; the service thread ends it.
    std::atomic<bool> m_watch_is_kept{false};
    base::spin_lock m_lent_lock; // guards the next two
    // Large payloads by their numbers, until the receivers have read them.
    std::map<std::uint64_t, lent_payload> m_lent;
    std::uint64_t m_lent_so_far = 0;
    std::unique_ptr<death[]> m_deaths; // by places
    signal m_end{1};
    std::atomic<bool> m_stopping{false};
    std::atomic<int> m_ended_by{0}; // an OS thread
    std::thread m_service;
};

// The endpoint of this process; null: it is alone. Set before threads of other places can come.
[[nodiscard]] endpoint* endpoint_of_process() noexcept;
void set_endpoint_of_process(endpoint* e) noexcept;

} // namespace tulle::messenger
