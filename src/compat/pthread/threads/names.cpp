// SPDX-License-Identifier: Apache-2.0
// Names of threads. Those of our threads are not the kernel's, which knows workers.
#include "sched/values/names.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "compat/pthread/threads/uncancelled.hpp"
#include "os/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstring>
#include <new>
#include <string>

namespace tulle::posix {

namespace {

// Of a thread's name, which the C library looks up among files; 0: it has one.
int why_nameless(thread const& t) noexcept {
    return is_gone(t) ? ESRCH : has_ended(t) ? ENOENT : 0;
}

// The name of an OS thread is the kernel's; who makes many threads asks for it once. By whatever
// thread it is changed, by pthread_setname_np or prctl, this counts it. relaxed, all: a change that
// another thread makes meanwhile may come later.
constinit std::atomic<unsigned> s_changes_of_names{1};
struct known_name {
    unsigned changes = 0; // when it was asked for; 0: it was not
    char text[sizeof(thread::name)] = {};
};
constinit thread_local known_name t_name;

char const* name_of_os_thread() noexcept {
    unsigned const changes = s_changes_of_names.load(std::memory_order_relaxed);
    if (TULLE_LIKELY(t_name.changes == changes)) return t_name.text;
    if (TULLE_LIBC(pthread_getname_np)(pthread_self(), t_name.text, sizeof t_name.text) != 0)
        t_name.text[0] = '\0';
    t_name.changes = changes;
    return t_name.text;
}

void note_change() noexcept { s_changes_of_names.fetch_add(1, std::memory_order_relaxed); }

// No memory: reports go without. What is no letter of a line would change how a report looks.
void remember(std::uint64_t number, char const* name) noexcept try {
    std::string shown(name);
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    sched::remember_name(number, shown);
} catch (std::bad_alloc const&) {}

// Either who names a thread sees its number, or the thread sees that it has a name, at its begin
// and at its end: it pays for no fence of its own, and whoever is the first to name another thread
// for all (os/membarrier.hpp). Where the kernel has no such call a report may miss, or keep, the
// name of a thread that begins or ends in that moment. Who remembers the name of one that ends
// meanwhile sees that, by the lock of the table, and forgets it. In a wait of the run time the
// caller is not cancelled.
void tell_reports(thread& t) noexcept {
    kept_errno const kept;
    uncancelled const meanwhile;
    t.is_named.store(true, std::memory_order_relaxed); // relaxed: the fence
    if (&t != self()) os::machine::heavy_fence();
    std::uint64_t const number = t.number.load(std::memory_order_relaxed); // relaxed: the fence
    if (number == 0) return;
    remember(number, t.name);
    if (t.number.load(std::memory_order_relaxed) != number) sched::forget_name(number);
}

// As the kernel does by prctl: what is too long is cut off. The kernel is told where the OS thread
// is the thread's own.
int name_self(thread& t, char const* name) noexcept {
    if (name == nullptr) return fail(EFAULT);
    char cut[sizeof t.name] = {};
    std::memcpy(cut, name, strnlen(name, sizeof cut - 1));
    std::memcpy(t.name, cut, sizeof cut);
    tell_reports(t);
    return thread_on_worker() != nullptr ? 0 : TULLE_LIBC(prctl)(PR_SET_NAME, cut);
}
int tell_name(thread const& t, char* name) noexcept {
    if (name == nullptr) return fail(EFAULT);
    std::memcpy(name, t.name, sizeof t.name);
    return 0;
}

} // namespace

void inherit_name(thread& t, thread const* by) noexcept {
    std::memcpy(t.name, by != nullptr ? by->name : name_of_os_thread(), sizeof t.name);
}

// relaxed, in both: see tell_reports.
void begin_name_in_reports(thread& t, std::uint64_t number) noexcept {
    t.number.store(number, std::memory_order_relaxed);
    os::machine::compiler_barrier();
    if (TULLE_UNLIKELY(t.is_named.load(std::memory_order_relaxed))) remember(number, t.name);
}

// Who names it from now on does so for nothing.
void end_name_in_reports(thread& t) noexcept {
    std::uint64_t const number = t.number.load(std::memory_order_relaxed);
    t.number.store(0, std::memory_order_relaxed);
    os::machine::compiler_barrier();
    if (TULLE_UNLIKELY(t.is_named.load(std::memory_order_relaxed))) sched::forget_name(number);
}

} // namespace tulle::posix

using namespace tulle::posix;

TULLE_INTERPOSE int pthread_setname_np(pthread_t id, char const* name) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) {
        int const error = TULLE_LIBC(pthread_setname_np)(id, name);
        note_change();
        return error;
    }
    if (std::strlen(name) >= sizeof t->name) return ERANGE;
    if (int const error = why_nameless(*t)) return error;
    std::strcpy(t->name, name);
    tell_reports(*t);
    return 0;
}

TULLE_INTERPOSE int pthread_getname_np(pthread_t id, char* name, size_t size) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_getname_np)(id, name, size);
    if (size < sizeof t->name) return ERANGE;
    if (int const error = why_nameless(*t)) return error;
    std::memcpy(name, t->name, sizeof t->name);
    return 0;
}

TULLE_INTERPOSE int prctl(int option, ...) noexcept {
    constexpr int k_most = 4;
    unsigned long given[k_most];
    va_list rest;
    va_start(rest, option);
    for (unsigned long& one : given) one = va_arg(rest, unsigned long);
    va_end(rest);
    if (thread* const t = option == PR_SET_NAME || option == PR_GET_NAME ? self() : nullptr) {
        auto* const name = reinterpret_cast<char*>(given[0]);
        return option == PR_SET_NAME ? name_self(*t, name) : tell_name(*t, name);
    }
    int const result = TULLE_LIBC(prctl)(option, given[0], given[1], given[2], given[3]);
    if (option == PR_SET_NAME) note_change();
    return result;
}
