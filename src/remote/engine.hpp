// SPDX-License-Identifier: Apache-2.0
// A place: takes messages from a transport and makes threads of them, and counts the activities of finishes. Messages are taken by workers that
// have nothing else to do, and by a service thread of the operating system when there are none.
//   A send never waits and never fails: what finds no room is kept, and sent by whoever polls next. Threads that send much wait until it has gone.
#pragma once

#include "base/idle_poller.hpp"
#include "base/spin_lock.hpp"
#include "net/transport.hpp"
#include "remote/governor.hpp"
#include "remote/message.hpp"

#include <tulle/detail/remote.hpp>
#include <tulle/signal.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace tulle::remote {

class engine final : private net::receiver, public base::idle_poller {
public:
    // Throws std::bad_alloc; std::invalid_argument: the transport's messages are too small.
    explicit engine(std::unique_ptr<net::transport> over);
    engine(engine const&) = delete;
    engine& operator=(engine const&) = delete;
    // Stops the service thread, after the threads that have come from other places have ended. No other thread may begin to use it any more.
    ~engine();

    void start(); // the service thread; throws std::system_error

    [[nodiscard]] rank here() const noexcept { return m_transport->here(); }
    [[nodiscard]] rank count() const noexcept { return m_transport->count(); }

    // --- by threads; they wait, and throw std::bad_alloc ---------------------------------------------------------------
    // The calling thread's governor goes with it.
    [[nodiscard]] detail::remote_result call(rank to, detail::remote_code code, std::span<std::byte const> arguments);
    void start_activity(governor& of, rank to, detail::remote_code code, std::span<std::byte const> arguments);

    // --- i-lets and transfers; to other places ------------------------------------------------------------------------
    struct ilet {
        std::uint64_t code = 0; // name (image.hpp); 0: none
        std::uint64_t a = 0;
        std::uint64_t b = 0;
    };
    void start(rank at, ilet const& what) noexcept;
    // Throws std::bad_alloc, with nothing done.
    void push(rank at, std::uint64_t to, std::span<std::byte const> from, ilet const& then_here, ilet const& then_there);
    // 0 or EFAULT.
    [[nodiscard]] int pull(rank at, std::uint64_t from, std::span<std::byte> to) noexcept;

    // --- accounts of activities (governor.hpp) ------------------------------------------------------------------------
    void begin_here(finish_part& of) noexcept;
    void end_here(finish_part& of) noexcept;
    void send_exception(finish_part& of, std::exception_ptr const& e); // throws std::bad_alloc

    // --- ends ------------------------------------------------------------------------------------------------------
    void tell_end() noexcept; // place 0: to all others; returns when these messages have left, or after a second
    [[nodiscard]] signal& told_end() noexcept { return m_end; }
    // Messages that found no room and have not left yet.
    [[nodiscard]] std::size_t waiting_to_leave() const noexcept { return m_waiting_count.load(std::memory_order_relaxed); } // a snapshot

    // base::idle_poller
    bool poll() noexcept override;
    void begin_watch() noexcept override { m_transport->begin_watch(); }
    void end_watch() noexcept override;

private:
    struct pending_call;
    struct arrived;
    struct transfer;
    struct kept_message {
        packet head;
        std::vector<std::byte> payload;
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
    struct outbox {
        base::spin_lock lock;
        std::deque<kept_message> waiting;
    };
    // What follows a packet: where the payload is, if the tag says so, or its bytes.
    struct enclosure {
        payload_reference where;
        std::span<std::byte const> bytes;
    };
    using part_key = std::pair<rank, std::uint64_t>;

    void deliver(packet const& head, std::byte const* payload) noexcept override;
    void start_thread(packet const& head, std::byte const* payload) noexcept;
    void answer(packet const& head, std::byte const* payload) noexcept;
    void take_report(packet const& head, std::byte const* payload) noexcept;
    void take_exception(packet const& head, std::byte const* payload) noexcept;
    void send_pieces(packet const& head, std::byte const* payload) noexcept;
    static void take_fragment(packet const& head, std::byte const* payload) noexcept;
    [[nodiscard]] payload_reference lend(std::span<std::byte const> payload);
    void take_back(std::uint64_t number) noexcept;

    void run(arrived* message) noexcept;
    void run_call(arrived* message) noexcept;
    void run_ilet(arrived* message) noexcept;
    void take_offer(arrived* message) noexcept;
    void run_code(arrived const& message, wire_writer& result);
    void send_back(arrived const& message, message_kind kind, wire_writer const& result) noexcept;
    void fetch_report(arrived* message) noexcept;
    [[nodiscard]] detail::remote_result fetch(rank from, payload_reference const& what);
    [[nodiscard]] int copy_from(rank from, std::uint64_t address, std::span<std::byte> to) noexcept;

    void send(rank to, message_tag tag, packet head, std::byte const* payload) noexcept;
    [[nodiscard]] enclosure enclose(message_tag& tag, std::span<std::byte const> payload); // throws std::bad_alloc
    void send(rank to, message_tag tag, packet head, enclosure const& enclosed) noexcept;
    void send_lent(rank to, message_tag tag, packet const& head, std::span<std::byte const> payload); // throws std::bad_alloc
    void send_in_place(rank to, message_tag tag, packet const& head, std::span<std::byte const> payload) noexcept;
    void keep(rank to, packet const& head, std::byte const* payload) noexcept;
    void send_what_was_kept() noexcept;
    void let_others_catch_up() noexcept;

    [[nodiscard]] governor* arrive(packet const& head, message_tag tag);
    [[nodiscard]] std::uint64_t account_send(governor& of, rank to); // the epoch that the message belongs to
    [[nodiscard]] finish_part& part_of(rank home, std::uint64_t root);
    void apply_report(finish_root& root, std::span<std::byte const> told) noexcept;
    [[nodiscard]] bool poll_alone() noexcept;
    [[nodiscard]] bool poll_in_turn() noexcept;
    void service() noexcept;

    std::unique_ptr<net::transport> m_transport;
    std::vector<std::unique_ptr<outbox>> m_out;
    std::atomic<std::size_t> m_waiting_count{0};
    std::atomic<std::uint32_t> m_running{0}; // threads that may use the engine, though nobody waits for them any more
    base::spin_lock m_polling;
    base::spin_lock m_lent_lock;                            // guards the next two
    std::map<std::uint64_t, std::vector<std::byte>> m_lent; // large payloads by their numbers, until the receivers have read them
    std::uint64_t m_lent_so_far = 0;
    base::spin_lock m_parts_lock; // guards the next two, and what is in the parts
    std::uint64_t m_epochs = 0;   // of this place, so far
    std::map<part_key, std::unique_ptr<finish_part>> m_parts;
    signal m_end{1};
    std::atomic<bool> m_stopping{false};
    std::thread m_service;
};

// That of this process; null: it is alone. Set before threads of other places can come.
[[nodiscard]] engine* engine_of_process() noexcept;
void set_engine_of_process(engine* e) noexcept;

} // namespace tulle::remote
