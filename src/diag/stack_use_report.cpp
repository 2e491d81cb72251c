// SPDX-License-Identifier: Apache-2.0
#include "diag/stack_use_report.hpp"

#include "base/error.hpp"
#include "diag/wording.hpp"
#include "os/mapped_memory.hpp"
#include "os/memory.hpp"
#include "os/thread.hpp"
#include "stack/size_class.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <exception>
#include <vector>

#include <pthread.h>
#include <unistd.h>

namespace tulle::diag {

namespace {

void want(symbol_table& symbols, sched::stack_user const& user) {
    if (user.is_forked)
        want_runner(symbols, reinterpret_cast<std::uintptr_t>(user.site));
    else
        symbols.want(call_before(user.site));
}

void print_user(text_output& out, sched::stack_user const& user,
                symbol_table const& symbols) noexcept {
    if (user.is_forked)
        return print_callable(out, runner_at(symbols, reinterpret_cast<std::uintptr_t>(user.site)));
    symbol const& shown = site_of(symbols.at(call_before(user.site)));
    out.print("spawned in %s%s%s\n", shown.function.c_str(),
              shown.source_line.empty() ? "" : " at ", shown.source_line.c_str());
}

class table_writer {
public:
    explicit table_writer(sched::stack_uses& uses) noexcept : m_uses(uses) {}

    void write() {
        m_rows.reserve(sched::stack_uses::k_most_users); // not under the lock
        m_uses.visit(
            [](void* self, sched::stack_use const& seen) {
                static_cast<table_writer*>(self)->m_rows.push_back(seen);
            },
            this);
        std::stable_sort(m_rows.begin(), m_rows.end(),
                         [](auto const& a, auto const& b) { return a.most_bytes > b.most_bytes; });
        for (auto const& row : m_rows) want(m_symbols, row.user);
        m_symbols.resolve();
        print();
    }

private:
    void print() noexcept {
        m_out.print("tulle: bytes of stack that threads have used, deepest first (process %d)\n",
                    ::getpid());
        if (m_rows.empty()) return m_out.print("no thread has begun on a stack of its own\n");
        m_out.print("%12s %12s %12s %12s %12s\n", "most", "mean", "threads", "stack_size",
                    "enough");
        for (auto const& row : m_rows) {
            m_out.print("%12zu %12" PRIu64 " %12" PRIu64 " %12zu %12zu  ", row.most_bytes,
                        row.sum_of_bytes / row.threads, row.threads, row.user.stack_bytes,
                        enough_for(row.most_bytes, row.user.stack_bytes));
            print_user(m_out, row.user, m_symbols);
        }
        if (std::uint64_t const more = m_uses.left_out(); more != 0)
            m_out.print("and %" PRIu64 " threads of other places\n", more);
        m_out.flush();
    }

    sched::stack_uses& m_uses;
    text_output m_out{STDERR_FILENO};
    os::mapped_memory m_pages;
    std::pmr::monotonic_buffer_resource m_memory{k_first_bytes, &m_pages};
    std::pmr::vector<sched::stack_use> m_rows{&m_memory};
    symbol_table m_symbols{m_memory, true};

    static constexpr std::size_t k_first_bytes = std::size_t{1} << 18U;
};

void write_table(sched::stack_uses& uses) noexcept try {
    table_writer(uses).write();
} catch (std::exception const& e) {
    base::warn("no report of stacks: %s", e.what());
}

template <class Job> void run_on_own_os_thread(Job& job) noexcept {
    pthread_t writer{};
    auto const run = [](void* argument) -> void* {
        os::set_name("tulle-report");
        (*static_cast<Job*>(argument))();
        return nullptr;
    };
    if (os::with_signals_blocked([&] { return os::start_thread(writer, run, &job); }) == 0)
        pthread_join(writer, nullptr);
    else
        job();
}

void write_overflow_found_late(sched::stack_user const& user, thread_id id) noexcept try {
    os::mapped_memory pages;
    std::pmr::monotonic_buffer_resource memory{&pages};
    symbol_table symbols{memory, true};
    want(symbols, user);
    symbols.resolve();
    text_output out(STDERR_FILENO);
    out.print("tulle: %s overflowed its stack of %zu bytes, which has no guard; give it %zu or "
              "more (option stack_size)\n    ",
              name_of(id).text, user.stack_bytes, 2 * user.stack_bytes);
    print_user(out, user, symbols);
} catch (std::exception const& e) {
    base::warn("a thread overflowed its stack of %zu bytes: %s", user.stack_bytes, e.what());
}

} // namespace

std::size_t enough_for(std::size_t used, std::size_t stack_bytes) noexcept {
    std::size_t const wanted = used + used / 3;
    if (stack_bytes == stack::k_compact_bytes && wanted <= stack_bytes) return stack_bytes;
    return stack::class_for(std::max(wanted, stack::k_smallest_bytes)).bytes();
}

void report_stack_uses(sched::stack_uses& uses) noexcept {
    auto job = [&uses] { write_table(uses); };
    run_on_own_os_thread(job);
}

void end_for_overflow(sched::stack_user const& user, thread_id id) noexcept {
    auto job = [&] { write_overflow_found_late(user, id); };
    run_on_own_os_thread(job);
    std::abort();
}

} // namespace tulle::diag
