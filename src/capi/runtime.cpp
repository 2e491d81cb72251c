// SPDX-License-Identifier: Apache-2.0
// The C face of the run time and of threads. Out of line: measured, that costs no more than an
// inline header.
#include "capi/limit.hpp"

#include <tulle.h>
#include <tulle/cpus.hpp>
#include <tulle/detail/caught_exception.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/fork.hpp>
#include <tulle/runtime.hpp>
#include <tulle/schedule_point.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>
#include <tulle/version.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>

namespace {

using tulle::detail::deque_front;
using tulle::detail::record;
using tulle::detail::thread_core;

// 0, or what `action` throws as a negative errno: -EINVAL for what is no error of the system.
template <class Action> int perform_or_refuse(Action action) noexcept {
    try {
        action();
        return 0;
    } catch (std::system_error const& e) {
        return -e.code().value();
    } catch (std::bad_alloc const&) {
        return -ENOMEM;
    } catch (...) {
        return -EINVAL;
    }
}

// The length of the whole text, or a negative errno.
int copy_text(char* buffer, size_t size, std::string (*make)()) noexcept {
    if (buffer == nullptr || size == 0) return -EINVAL;
    int length = 0;
    int const error = perform_or_refuse([&] {
        std::string const text = make();
        std::size_t const copied = std::min(text.size(), size - 1);
        std::memcpy(buffer, text.data(), copied);
        buffer[copied] = '\0';
        length = static_cast<int>(text.size());
    });
    return error != 0 ? error : length;
}

struct c_call {
    void (*function)(void*);
    void* argument;
};

c_call& call_of(record* slot) noexcept {
    return *std::launder(reinterpret_cast<c_call*>(slot->body));
}

// A C++ function behind the C face may throw.
void run_call(record* slot) noexcept {
    c_call const c = call_of(slot);
    try {
        c.function(c.argument);
    } catch (...) {
        slot->exception = tulle::detail::caught_exception();
    }
}

struct thread_call {
    void* (*function)(void*);
    void* argument;
    void* result;
};
static_assert(sizeof(thread_call) <= tulle::detail::k_thread_body_size);

thread_call& call_of(thread_core* t) noexcept {
    return *std::launder(reinterpret_cast<thread_call*>(t->body));
}

void run_thread_call(thread_core* t) {
    thread_call& c = call_of(t);
    c.result = c.function(c.argument);
}
void close_thread_call(thread_core*) {}

thread_core* core_of(tulle_thread* thread) noexcept {
    return reinterpret_cast<thread_core*>(thread);
}
thread_core const* core_of(tulle_thread const* thread) noexcept {
    return reinterpret_cast<thread_core const*>(thread);
}

// Of a thread that has ended.
int take_result(thread_core* t, void** result) {
    t->close = nullptr;
    if (result != nullptr) *result = call_of(t).result;
    std::exception_ptr const thrown = std::exchange(t->exception, nullptr);
    bool const left_behind = t->run == nullptr; // in the parent process, by fork(2)
    tulle::detail::release_thread(t);
    if (left_behind) return -ESRCH;
    if (thrown != nullptr) std::rethrow_exception(thrown);
    return 0;
}

tulle::attributes attributes_of(tulle_attr const* attr) noexcept {
    if (attr == nullptr) return {};
    return {attr->stack_size, attr->shepherd, attr->child_first != 0, attr->name};
}

std::uint64_t after(std::uint64_t nanoseconds) noexcept {
    constexpr auto k_most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return tulle::detail::deadline_after(
        std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(nanoseconds, k_most))));
}

} // namespace

extern "C" {

int tulle_init(tulle_options const* options) {
    tulle_options const o = options == nullptr ? tulle_options{} : *options;
    return perform_or_refuse([&] { tulle::initialize({o.workers, o.stack_size}); });
}
int tulle_finalize(void) { return perform_or_refuse(&tulle::finalize); }
int tulle_is_initialized(void) { return tulle::is_initialized() ? 1 : 0; }
int tulle_live_threads(char* buffer, size_t size) {
    return copy_text(buffer, size, &tulle::live_threads);
}
int tulle_set_option(char const* name, char const* value) {
    if (name == nullptr || value == nullptr) return -EINVAL;
    return perform_or_refuse([&] { tulle::set_option(name, value); });
}
int tulle_worker_count(void) { return tulle::worker_count(); }
int tulle_max_workers(void) { return tulle::max_worker_count(); }

int tulle_worker_slots(void) { return tulle::worker_slot_count(); }
int tulle_set_workers(int workers) {
    return perform_or_refuse([workers] { tulle::set_worker_count(workers); });
}
int tulle_cpus_want(int least, int most, int weight) {
    return perform_or_refuse([=] { tulle::want_cpus({least, most, weight}); });
}
int tulle_cpus(int* out, size_t capacity) {
    if (out == nullptr && capacity != 0) return -EINVAL;
    int found = 0;
    int const error = perform_or_refuse([&] {
        std::vector<int> const own = tulle::own_cpus();
        std::copy_n(own.begin(), std::min(capacity, own.size()), out);
        found = static_cast<int>(own.size());
    });
    return error != 0 ? error : found;
}
int tulle_shepherd_count(void) { return tulle::shepherd_count(); }
char const* tulle_version(void) { return tulle::version(); }

tulle_child tulle_fork(void (*function)(void*), void* argument) {
    if (TULLE_UNLIKELY(function == nullptr)) return {nullptr, nullptr};
    deque_front* deque = tulle::detail::current_deque();
    if (TULLE_UNLIKELY(deque == nullptr)) deque = tulle::detail::open_deque_cold();
    record* const slot = deque->top();
    ::new (static_cast<void*>(slot->body)) c_call{function, argument};
    slot->run = &run_call;
    if (TULLE_UNLIKELY(!deque->publish(slot))) tulle::detail::published_cold(deque);
    return {deque, slot};
}
int tulle_join(tulle_child child) {
    auto* const deque = static_cast<deque_front*>(child.deque);
    auto* const slot = static_cast<record*>(child.record);
    if (TULLE_UNLIKELY(slot == nullptr || deque == nullptr)) return -EINVAL;
    if (TULLE_LIKELY(deque->retract(slot)) || tulle::detail::join_cold(deque, slot)) {
        c_call const c = call_of(slot);
        c.function(c.argument);
    } else if (TULLE_UNLIKELY(slot->exception != nullptr)) {
        tulle::detail::rethrow_cold(slot);
    }
    return 0;
}

int tulle_spawn(tulle_thread** out, tulle_attr const* attr, void* (*function)(void*),
                void* argument) {
    if (function == nullptr) return -EINVAL;
    tulle::attributes const how = attributes_of(attr);
    thread_core* t = nullptr;
    if (int const error = perform_or_refuse([&] { t = tulle::detail::new_thread(how); }))
        return error;
    t->site = __builtin_return_address(0);
    ::new (static_cast<void*>(t->body)) thread_call{function, argument, nullptr};
    t->run = &run_thread_call;
    t->close = &close_thread_call;
    if (out != nullptr) *out = reinterpret_cast<tulle_thread*>(t);
    tulle::detail::start_thread(t, false, how.child_first);
    if (out == nullptr) tulle::detail::release_thread(t); // its body uses the record to the end
    return 0;
}
int tulle_thread_join(tulle_thread* thread, void** result) {
    if (thread == nullptr) return -EINVAL;
    tulle::detail::wait_thread(core_of(thread));
    return take_result(core_of(thread), result);
}
int tulle_thread_try_join(tulle_thread* thread, void** result) {
    if (thread == nullptr) return -EINVAL;
    if (!tulle::detail::thread_is_done(core_of(thread))) return -EBUSY;
    return take_result(core_of(thread), result);
}
int tulle_thread_timed_join(tulle_thread* thread, void** result, uint64_t timeout_ns) {
    if (thread == nullptr) return -EINVAL;
    if (!tulle::detail::wait_thread_until(core_of(thread), after(timeout_ns))) return -ETIMEDOUT;
    return take_result(core_of(thread), result);
}
int tulle_thread_join_within(tulle_thread* thread, void** result, tulle_limit_t const* limit) {
    if (thread == nullptr || limit == nullptr) return -EINVAL;
    if (!tulle::detail::wait_thread_until(core_of(thread), tulle::capi::limit_of(*limit)))
        return tulle::capi::reason_of(*limit);
    return take_result(core_of(thread), result);
}
int tulle_thread_detach(tulle_thread* thread) {
    if (thread == nullptr) return -EINVAL;
    tulle::detail::release_thread(core_of(thread));
    return 0;
}
uint64_t tulle_thread_id(tulle_thread const* thread) {
    return thread == nullptr ? 0 : core_of(thread)->id;
}

int tulle_yield(void) {
    tulle::this_thread::yield();
    return 0;
}
int tulle_sleep_ns(uint64_t nanoseconds) {
    tulle::this_thread::sleep_until_ns(after(nanoseconds));
    return 0;
}
int tulle_schedule_point(void) {
    tulle::schedule_point();
    return 0;
}
uint64_t tulle_self_id(void) { return tulle::this_thread::get_id(); }
int tulle_set_name(char const* name) {
    if (name == nullptr) return -EINVAL;
    return perform_or_refuse([&] { tulle::this_thread::set_name(name); });
}
int tulle_get_name(char* buffer, size_t size) {
    return copy_text(buffer, size, &tulle::this_thread::name);
}
int tulle_worker_index(void) { return tulle::this_thread::worker_index(); }
int tulle_shepherd_index(void) { return tulle::this_thread::shepherd_index(); }

} // extern "C"
