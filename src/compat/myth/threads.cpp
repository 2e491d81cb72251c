// SPDX-License-Identifier: Apache-2.0
// Making threads, their ends, and joining them.
#include "compat/myth/library.hpp"
#include "compat/myth/run_queue.hpp"
#include "compat/myth/thread.hpp"
#include "compat/myth/time.hpp"

#include <tulle.h>
#include <tulle/detail/record.hpp>
#include <tulle/detail/stack_attachments.hpp>
#include <tulle/this_thread.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

namespace tulle::myth {

namespace {

using detail::thread_core;

// What else leaves the function ends the program, as it would from a function of C.
void run(thread_core* t) noexcept {
    thread_body& b = body_of(t);
    try {
        b.value = b.function(b.value);
    } catch (exit_request const& wanted) {
        b.value = wanted.result;
    }
}

void close(thread_core* t) noexcept {
    // relaxed: by the last reference
    delete body_of(t).more.load(std::memory_order_relaxed);
}

TULLE_INLINE void open_body(thread_core* t, myth_func_t function, void* argument) noexcept {
    auto* const b = ::new (static_cast<void*>(t->body)) thread_body;
    b->function = function;
    b->value = argument;
    b->more.store(nullptr, std::memory_order_relaxed); // relaxed, both: nobody else knows it
    b->flags.store(0, std::memory_order_relaxed);
    t->run = &run;
    t->close = &close;
}

// 0: the default one.
TULLE_INLINE std::size_t wanted_stack(myth_thread_attr_t const* attr) noexcept {
    return attr == nullptr || attr->stacksize == the().stack_size ? 0 : attr->stacksize;
}

// What the attributes say and the record has no room for.
void add_extra(thread_core* t, myth_thread_attr_t const& attr, std::size_t stack_size) {
    if (stack_size == 0 && attr.custom_data_size == 0) return;
    auto more = std::make_unique<extra>();
    more->stack_size = stack_size;
    if (attr.custom_data_size != 0) {
        more->own_hint = std::make_unique<std::byte[]>(attr.custom_data_size);
        std::memcpy(more->own_hint.get(), attr.custom_data, attr.custom_data_size);
        more->hint = more->own_hint.get();
        more->hint_size = attr.custom_data_size;
    }
    body_of(t).more.store(more.release(), std::memory_order_relaxed); // relaxed: as in open_body
}

bool makes_sense(myth_thread_attr_t const& attr) noexcept {
    constexpr std::size_t k_most = std::size_t{1} << 40;
    return attr.stacksize < k_most && (attr.custom_data_size == 0 || attr.custom_data != nullptr) &&
           (attr.detachstate == PTHREAD_CREATE_JOINABLE ||
            attr.detachstate == PTHREAD_CREATE_DETACHED);
}

TULLE_INLINE thread_core* made_core(myth_func_t function, void* argument,
                                    myth_thread_attr_t const* attr) {
    std::size_t const stack_size = wanted_stack(attr);
    attributes how;
    if (stack_size != 0) how.stack_size = stack_size + k_stack_overhead;
    thread_core* const t = detail::new_thread(how);
    open_body(t, function, argument);
    if (attr == nullptr) return t;
    try {
        add_extra(t, *attr, stack_size);
    } catch (...) {
        t->close = nullptr;
        detail::discard_thread(t);
        throw;
    }
    return t;
}

// By its one joiner, when it has ended.
int take_result(thread_core* t, void** result) noexcept {
    if (result != nullptr) *result = body_of(t).value;
    bool const left_behind = t->run == nullptr; // in the parent process, by fork(2)
    t->exception = nullptr;                     // which says the same
    detail::release_thread(t);
    return left_behind ? ESRCH : 0;
}

int check_joined(myth_thread_t th) noexcept {
    if (!is_made_here(th)) return EINVAL;
    return th == running() ? EDEADLK : 0;
}
// What a thread of this interface that goes first has mostly done by its join. acquire pairs with
// the end of the thread.
bool has_ended(thread_core const* t) noexcept {
    return t->word.load(std::memory_order_acquire) == detail::k_done;
}

// Of threads that are not of this interface.
constexpr auto k_free_record = [](void* t) {
    auto* const core = static_cast<thread_core*>(t);
    close(core);
    delete core;
};

tulle_key record_key() noexcept {
    static tulle_key const s_key = [] {
        tulle_key made = 0;
        static_cast<void>(tulle_key_create(&made, k_free_record));
        return made;
    }();
    return s_key;
}

// The record of a caller that is no thread of this interface. Null: no memory.
thread_core* record_of_other() noexcept {
    tulle_key const key = record_key();
    auto* known = static_cast<thread_core*>(tulle_get_specific(key));
    if (known != nullptr) return known;
    auto* const made = new (std::nothrow) thread_core;
    if (made == nullptr) return nullptr;
    open_body(made, nullptr, nullptr);
    // relaxed: nobody else knows it
    body_of(made).flags.store(k_runs_nothing, std::memory_order_relaxed);
    if (tulle_set_specific(key, made) == 0) return made;
    delete made;
    return nullptr;
}

void detach_now(myth_thread_t th) noexcept {
    if (late_of(th) == nullptr || !detach_late(th)) detail::release_thread(core_of(th));
}

// make() and create(), into which what calls them builds the attributes that it has not.
TULLE_INLINE int make_here(myth_thread_t& made, myth_func_t function, void* argument,
                           myth_thread_attr_t const* attr, void const* site) noexcept {
    if (function == nullptr || (attr != nullptr && !makes_sense(*attr))) return EINVAL;
    if (int const error = ensure_started()) return error;
    thread_core* t = nullptr;
    if (int const error = guarded([&] { t = made_core(function, argument, attr); })) return error;
    t->site = site;
    made = handle_of(t);
    return 0;
}

TULLE_INLINE int create_here(myth_thread_t* id, myth_thread_attr_t const* attr,
                             myth_func_t function, void* argument, void const* site) noexcept {
    myth_thread_t made = nullptr;
    if (int const error = make_here(made, function, argument, attr, site)) return error;
    if (id != nullptr) *id = made;
    bool const child_first = attr != nullptr ? attr->child_first != 0 : the().child_first;
    bool const is_detached =
        id == nullptr || (attr != nullptr && attr->detachstate == PTHREAD_CREATE_DETACHED);
    detail::start_thread(core_of(made), false, child_first);
    if (is_detached) detail::release_thread(core_of(made));
    return 0;
}

} // namespace

extra* more_of(thread_body& b) noexcept {
    extra* known = b.more.load(std::memory_order_acquire); // pairs with the exchange
    if (known != nullptr) return known;
    auto made = std::unique_ptr<extra>(new (std::nothrow) extra);
    if (made == nullptr) return nullptr;
    // Pairs with itself and with late_of.
    if (!b.more.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel,
                                        std::memory_order_acquire))
        return known;
    return made.release();
}

myth_thread_t running() noexcept {
    thread_core* const t = detail::running_thread();
    return t != nullptr && t->run == &run ? handle_of(t) : nullptr;
}

int make(myth_thread_t& made, myth_func_t function, void* argument, myth_thread_attr_t const* attr,
         void const* site) noexcept {
    return make_here(made, function, argument, attr, site);
}

int create(myth_thread_t* id, myth_thread_attr_t const* attr, myth_func_t function, void* argument,
           void const* site) noexcept {
    return create_here(id, attr, function, argument, site);
}

int join(myth_thread_t th, void** result) noexcept {
    if (is_made_here(th) && has_ended(core_of(th))) return take_result(core_of(th), result);
    if (int const error = check_joined(th)) return error;
    if (late_start* const late = late_of(th)) late->begun.wait();
    detail::wait_thread(core_of(th));
    return take_result(core_of(th), result);
}

} // namespace tulle::myth

using namespace tulle::myth;
namespace detail = tulle::detail;

myth_thread_t myth_create(myth_func_t func, void* arg) {
    myth_thread_t made = nullptr;
    int const error = create_here(&made, nullptr, func, arg, __builtin_return_address(0));
    return error == 0 ? made : refuse<struct myth_thread>(error);
}

int myth_create_ex(myth_thread_t* id, myth_thread_attr_t* attr, myth_func_t func, void* arg) {
    return create(id, attr, func, arg, __builtin_return_address(0));
}

myth_thread_t myth_create_nosched(myth_func_t func, void* arg, myth_thread_attr_t* attr) {
    myth_thread_t made = nullptr;
    int const error = make_late(made, func, arg, attr, __builtin_return_address(0));
    return error == 0 ? made : refuse<struct myth_thread>(error);
}

void myth_exit(void* ret) {
    if (running() == nullptr) {
        std::fputs("tulle: myth_exit in a thread that myth_create has not made\n", stderr);
        std::abort();
    }
    throw exit_request{ret};
}

int myth_join(myth_thread_t th, void** result) { return join(th, result); }

int myth_tryjoin(myth_thread_t th, void** result) {
    if (int const error = check_joined(th)) return error;
    if (late_start const* const late = late_of(th); late != nullptr && !late->begun.try_wait())
        return EBUSY;
    if (!detail::thread_is_done(core_of(th))) return EBUSY;
    return take_result(core_of(th), result);
}

int myth_timedjoin(myth_thread_t th, void** result, const struct timespec* abstime) {
    std::uint64_t until = 0;
    if (int const error = deadline_of(abstime, until)) return error;
    if (int const error = check_joined(th)) return error;
    late_start* const late = late_of(th);
    if (late != nullptr && !late->begun.wait(tulle::wait_limit::of(until))) return EBUSY;
    if (!detail::wait_thread_until(core_of(th), until)) return EBUSY;
    return take_result(core_of(th), result);
}

int myth_detach(myth_thread_t th) {
    if (!is_made_here(th)) return EINVAL;
    detach_now(th);
    return 0;
}

int myth_is_myth_worker(void) { return tulle::this_thread::worker_index() >= 0 ? 1 : 0; }

myth_thread_t myth_self(void) {
    if (myth_thread_t const self = running()) return self;
    if (int const error = ensure_started()) return refuse<struct myth_thread>(error);
    auto* const other = record_of_other();
    return other != nullptr ? handle_of(other) : refuse<struct myth_thread>(ENOMEM);
}

int myth_equal(myth_thread_t t1, myth_thread_t t2) { return t1 == t2 ? 1 : 0; }
