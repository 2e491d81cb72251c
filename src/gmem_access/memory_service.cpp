// SPDX-License-Identifier: Apache-2.0
// Requests of other places for this one's part of global memory, and the answers. The
// polling thread calls these: nothing here waits.
#include "base/error.hpp"
#include "gmem_access/memory_request.hpp"
#include "messenger/calls.hpp"
#include "messenger/endpoint.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

namespace tulle::gmem_access {

using messenger::message_kind;
using messenger::object_at;

namespace {

template <class T> T operate_on(memory_operation operation, T& word, T value, T expected) noexcept {
    std::atomic_ref<T> const there(word);
    switch (operation) {
        case memory_operation::add: return there.fetch_add(value, std::memory_order_seq_cst);
        case memory_operation::exchange: return there.exchange(value, std::memory_order_seq_cst);
        default:
            there.compare_exchange_strong(expected, value, std::memory_order_seq_cst);
            return expected;
    }
}

} // namespace

std::uint64_t global_memory::operate(memory_operation operation, std::uint64_t address,
                                     unsigned width, std::uint64_t value,
                                     std::uint64_t expected) noexcept {
    if (width == sizeof(std::uint64_t))
        return operate_on(operation, object_at<std::uint64_t>(address), value, expected);
    return operate_on(operation, object_at<std::uint32_t>(address),
                      static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(expected));
}

// --- asking --------------------------------------------------------------------------------------

void global_memory::send(rank to, request const& wanted, asked& answer) noexcept {
    packet head;
    head.handler = memory_word{wanted.what, wanted.width, wanted.bytes}.encode();
    head.a = wanted.address;
    head.b = reinterpret_cast<std::uintptr_t>(&answer);
    head.c = wanted.operand;
    std::byte const* bytes = nullptr;
    switch (wanted.what) {
        case memory_operation::put:
            head.size = wanted.bytes;
            bytes = &object_at<std::byte const>(wanted.operand);
            break;
        case memory_operation::compare_exchange:
            head.size = sizeof wanted.expected;
            bytes = reinterpret_cast<std::byte const*>(&wanted.expected);
            break;
        default: break;
    }
    m_carrier->send(to, {message_kind::memory}, head, bytes, &answer);
    m_carrier->let_others_catch_up();
}

int global_memory::ask(rank place, request const& wanted, std::uint64_t& value) noexcept {
    waiting all(1);
    asked answer;
    answer.waiter = &all;
    send(place, wanted, answer);
    all.answered.wait();
    value = all.value;
    return all.error.load(std::memory_order_relaxed); // published by the signal
}

void global_memory::take_answer(packet const& head, std::byte const* payload) noexcept {
    auto& answer = object_at<asked>(head.b);
    waiting& all = *answer.waiter;
    m_carrier->cross_off(head.from, answer);
    if (head.size != 0) std::memcpy(&object_at<std::byte>(head.c), payload, head.size);
    all.value = head.a;
    if (head.handler != 0)
        all.error.store(static_cast<int>(head.handler),
                        std::memory_order_relaxed); // published by the next line
    all.answered.notify();                          // it may be gone then
}

// --- serving -------------------------------------------------------------------------------------

void global_memory::answer(rank to, packet const& head, int error, std::uint64_t value,
                           std::byte const* bytes, std::uint32_t size) noexcept {
    packet back;
    back.handler = static_cast<std::uint64_t>(error);
    back.a = value;
    back.b = head.b;
    back.c = head.c;
    back.size = size;
    m_carrier->send(to, {message_kind::memory_answer}, back, bytes);
}

void global_memory::serve(packet const& head, std::byte const* payload) noexcept {
    if (table() == nullptr) return answer(head.from, head, error(), 0);
    switch (memory_word::decode(head.handler).what) {
        case memory_operation::allocate:
        case memory_operation::release:
        case memory_operation::size_of: return serve_manager(head);
        default: return serve_memory(head, payload);
    }
}

void global_memory::serve_memory(packet const& head, std::byte const* payload) noexcept {
    auto const [what, width, bytes] = memory_word::decode(head.handler);
    auto* const there = &object_at<std::byte>(head.a);
    std::uint64_t expected = 0;
    switch (what) {
        case memory_operation::get: return answer(head.from, head, 0, 0, there, bytes);
        case memory_operation::put:
            std::memcpy(there, payload, bytes);
            return answer(head.from, head, 0, 0);
        case memory_operation::fill:
            std::memset(there, 0, bytes);
            return answer(head.from, head, 0, 0);
        case memory_operation::compare_exchange:
            std::memcpy(&expected, payload, sizeof expected);
            break;
        default: break;
    }
    answer(head.from, head, 0, operate(what, head.a, width, head.c, expected));
}

void global_memory::serve_manager(packet const& head) noexcept {
    auto const what = memory_word::decode(head.handler).what;
    if (m_manager == nullptr) return answer(head.from, head, EINVAL, 0); // another grouping there
    if (what != memory_operation::allocate) {
        auto const done = what == memory_operation::release ? m_manager->release(head.a)
                                                            : m_manager->size_of(head.a);
        return answer(head.from, head, errno_of(done.status), done.value);
    }
    auto const made = m_manager->allocate(head.c, head.from, static_cast<rank>(head.a));
    answer(head.from, head, errno_of(made.status), made.value);
}

} // namespace tulle::gmem_access
