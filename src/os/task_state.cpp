// SPDX-License-Identifier: Apache-2.0
#include "os/task_state.hpp"

#include "os/thread.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::os {

namespace {

constexpr std::size_t k_longest_line = 192; // the beginning is enough

struct named_call {
    int number;
    char const* name;
};

// Some architectures lack the older ones.
constexpr named_call k_calls[] = {
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_readv, "readv"},
    {SYS_writev, "writev"},
    {SYS_pread64, "pread"},
    {SYS_pwrite64, "pwrite"},
    {SYS_futex, "futex"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fdatasync"},
    {SYS_openat, "openat"},
    {SYS_close, "close"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_ioctl, "ioctl"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_madvise, "madvise"},
    {SYS_rt_sigtimedwait, "sigtimedwait"},
    {SYS_rt_sigsuspend, "sigsuspend"},
#ifdef SYS_poll
    {SYS_poll, "poll"},
#endif
#ifdef SYS_select
    {SYS_select, "select"},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait"},
#endif
#ifdef SYS_pause
    {SYS_pause, "pause"},
#endif
#ifdef SYS_accept
    {SYS_accept, "accept"},
#endif
#ifdef SYS_accept4
    {SYS_accept4, "accept4"},
#endif
#ifdef SYS_connect
    {SYS_connect, "connect"},
#endif
#ifdef SYS_recvfrom
    {SYS_recvfrom, "recv"},
#endif
#ifdef SYS_recvmsg
    {SYS_recvmsg, "recvmsg"},
#endif
#ifdef SYS_sendto
    {SYS_sendto, "send"},
#endif
#ifdef SYS_sendmsg
    {SYS_sendmsg, "sendmsg"},
#endif
};

private_descriptor open_of(char const* form, int tid) noexcept {
    char path[64];
    static_cast<void>(std::snprintf(path, sizeof path, form, tid));
    return private_descriptor([&path] { return ::open(path, O_RDONLY | O_CLOEXEC); });
}

} // namespace

void task_state::close() noexcept {
    m_file.close();
    m_tid = 0;
}

void task_state::open(int tid) noexcept {
    close();
    m_file = open_of("/proc/self/task/%d/syscall", tid);
    char first = 0;
    // Some kernels have the file and refuse to read it.
    m_names_call = m_file.is_open() && ::pread(m_file.number(), &first, 1, 0) == 1;
    if (!m_names_call) m_file = open_of("/proc/self/task/%d/stat", tid);
    if (m_file.is_open()) m_tid = tid; // else there may be a number the next time
}

bool task_state::can_name_calls() noexcept {
    task_state own;
    own.open(thread_id());
    return own.m_names_call;
}

task_state::view task_state::read(int tid) noexcept {
    if (tid == 0) return {};
    if (tid != m_tid) open(tid);
    if (!m_file.is_open()) return {};
    char line[k_longest_line];
    ssize_t const length = ::pread(m_file.number(), line, sizeof line, 0);
    if (length <= 0) return {};
    view (*const parse)(char const*, std::size_t) noexcept =
        m_names_call ? &parse_syscall_line : &parse_stat_line;
    return parse(line, static_cast<std::size_t>(length));
}

// "running", or the number of the call and its arguments; the number is -1 where it waits for a
// page.
task_state::view parse_syscall_line(char const* text, std::size_t length) noexcept {
    std::string_view const line(text, length);
    if (line.starts_with("running")) return {task_state::kind::computes, -1};
    int number = -1;
    auto const [end, error] = std::from_chars(text, text + length, number);
    if (error != std::errc{}) return {};
    return {task_state::kind::in_kernel, number};
}

// The state is the letter after the name, which stands in parentheses and may contain any
// character.
task_state::view parse_stat_line(char const* text, std::size_t length) noexcept {
    std::string_view const line(text, length);
    std::size_t const end_of_name = line.rfind(')');
    if (end_of_name == std::string_view::npos || end_of_name + 2 >= length) return {};
    char const state = line[end_of_name + 2];
    if (state == 'R') return {task_state::kind::computes, -1};
    if (state == 'S' || state == 'D') return {task_state::kind::in_kernel, -1};
    return {};
}

char const* name_of_call(int number) noexcept {
    auto const* const found =
        std::find_if(std::begin(k_calls), std::end(k_calls),
                     [number](named_call const& c) { return c.number == number; });
    return found == std::end(k_calls) ? nullptr : found->name;
}

} // namespace tulle::os
