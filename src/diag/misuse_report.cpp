// SPDX-License-Identifier: Apache-2.0
#include "diag/misuse_report.hpp"

#include "arch/registers.hpp"
#include "base/error.hpp"
#include "diag/process_copy.hpp"
#include "diag/stack_trace.hpp"
#include "diag/symbols.hpp"
#include "diag/text_output.hpp"
#include "diag/wording.hpp"
#include "os/child_program.hpp"
#include "os/mapped_memory.hpp"
#include "os/mapped_range.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory_resource>

#include <ucontext.h>
#include <unistd.h>

namespace tulle::diag {

namespace {

constexpr std::size_t k_most_calls = 12;
constexpr std::size_t k_bytes_for_names = std::size_t{1} << 18U;

// The first one to make a mistake owns them; the process ends after that.
std::atomic<bool> g_is_telling{false};
ucontext_t g_where; // too large for a small stack

void print_calls(stack_trace const& trace, symbol_table const& symbols, text_output& out) noexcept {
    std::size_t number = 0;
    for (std::size_t k = 0; k < trace.count; ++k) {
        for (symbol const& s : symbols.at(trace.pcs[k])) {
            if (is_internal(s)) continue;
            if (number == k_most_calls) return out.print("    ...\n");
            print_call(out, number++, s);
        }
    }
}

// Called in the copy.
void write_calls(void* /*none*/) try {
    os::close_descriptors(STDERR_FILENO + 1, ~0U, false);
    arch::registers const from = arch::registers_of(g_where);
    os::address_range const own = os::mapping_around(from.value[arch::k_stack_pointer]);
    stack_trace trace;
    unwind(from, {own.low, own.high}, trace);
    os::mapped_memory pages;
    std::pmr::monotonic_buffer_resource memory(k_bytes_for_names, &pages);
    symbol_table symbols(memory, false);
    for (std::size_t k = 0; k < trace.count; ++k) symbols.want(trace.pcs[k]);
    symbols.resolve();
    text_output out(STDERR_FILENO);
    print_calls(trace, symbols, out);
} catch (std::exception const& e) {
    text_output(STDERR_FILENO).print("    (where is not known: %s)\n", e.what());
}

void tell_calls() noexcept {
    // relaxed: guards no data, as the second one leaves them alone
    if (g_is_telling.exchange(true, std::memory_order_relaxed) || ::getcontext(&g_where) != 0)
        return;
    int const child = os::copy_process();
    if (child == 0) write_and_end_copy(&write_calls, nullptr);
    int status = 0;
    if (child > 0) os::wait_for_copy(child, status, true);
}

} // namespace

void tell_where_misused() noexcept {
    if constexpr (arch::k_can_unwind) base::tell_calls_by(&tell_calls);
}
void stop_telling_where_misused() noexcept { base::tell_calls_by(nullptr); }

} // namespace tulle::diag
