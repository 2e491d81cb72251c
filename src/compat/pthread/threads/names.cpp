// SPDX-License-Identifier: Apache-2.0
// Names of threads. Those of our threads are not the kernel's, which knows workers.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"

#include <atomic>
#include <cstdarg>
#include <cstring>

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

// As the kernel does by prctl: what is too long is cut off. The kernel is told where the OS thread
// is the thread's own.
int name_self(thread& t, char const* name) noexcept {
    if (name == nullptr) return fail(EFAULT);
    char cut[sizeof t.name] = {};
    std::memcpy(cut, name, strnlen(name, sizeof cut - 1));
    std::memcpy(t.name, cut, sizeof cut);
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
