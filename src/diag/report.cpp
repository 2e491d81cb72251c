// SPDX-License-Identifier: Apache-2.0
#include "diag/report.hpp"

#include "diag/stack_limit.hpp"
#include "diag/symbols.hpp"
#include "diag/text_output.hpp"
#include "diag/thread_groups.hpp"
#include "diag/wording.hpp"
#include "os/mapped_memory.hpp"
#include "os/signal_handlers.hpp"
#include "os/task_state.hpp"
#include "sync/inspect.hpp"

#include <atomic>
#include <cinttypes>
#include <cstddef>
#include <new>

namespace tulle::diag {

namespace {

constexpr std::size_t k_most_circles_told = 8;
constexpr std::size_t k_most_groups = 100;

phrase holder_of(sync::holder const& h) noexcept {
    return h.id != 0 ? name_of(h.id) : phrase::make("%s", "a forked thread");
}

// "mutex 0x7f.. held by thread 3", "barrier 0x7f.. (2 of 3 have arrived)", "thread 4"
phrase target_of(wait::wait_reason waits, bool same_object) noexcept {
    using enum wait::wait_kind;
    char const* const kind = sync::text(waits.kind);
    if (waits.kind == sleep) return phrase::make("a %s", kind);
    if (!same_object) return phrase::make("a %s each", kind);
    sync::wait_facts const facts = sync::inspect(waits);
    if (waits.kind == stolen_child) return phrase::make("a %s", kind);
    if (waits.kind == spawned_thread) return name_of(facts.holder.id);
    if (facts.holder.is_known())
        return phrase::make("%s %p, held by %s", kind, waits.object, holder_of(facts.holder).text);
    if (facts.numbers[0] != '\0')
        return phrase::make("%s %p (%s)", kind, waits.object, facts.numbers);
    return phrase::make("%s %p", kind, waits.object);
}

// ", which is in read"; empty unless the watcher has found its worker in the kernel.
phrase stuck_in(sched::thread_view const& seen) noexcept {
    if (seen.found != sched::stuck_state::in_kernel) return {};
    char const* const call = os::name_of_call(seen.found_call);
    if (call != nullptr) return phrase::make(", which is in %s", call);
    if (seen.found_call >= 0) return phrase::make(", which is in system call %d", seen.found_call);
    return phrase::make("%s", ", which is in the kernel");
}

// The first memory of a report: a program without stacks for its threads has no memory left,
// mostly. Pages that are not touched cost nothing.
class report_reserve {
public:
    // pairs with the release below.
    report_reserve() noexcept : m_is_ours(!g_is_taken.exchange(true, std::memory_order_acquire)) {}
    ~report_reserve() {
        // pairs with the acquire above.
        if (m_is_ours) g_is_taken.store(false, std::memory_order_release);
    }
    report_reserve(report_reserve const&) = delete;
    report_reserve& operator=(report_reserve const&) = delete;

    [[nodiscard]] std::pmr::monotonic_buffer_resource
    memory_upon(std::pmr::memory_resource& rest) const noexcept {
        using memory = std::pmr::monotonic_buffer_resource;
        return m_is_ours ? memory(g_bytes, sizeof g_bytes, &rest) : memory(sizeof g_bytes, &rest);
    }

private:
    static constinit inline std::atomic<bool> g_is_taken{false};
    alignas(std::max_align_t) static constinit inline std::byte g_bytes[std::size_t{1} << 18U]{};

    bool const m_is_ours;
};

class writer {
public:
    writer(sched::scheduler& scheduler, report_reason const& why, int process, int output) noexcept
        : m_scheduler(scheduler),
          m_why(why),
          m_process(process),
          m_out(output),
          m_memory(m_reserve.memory_upon(m_pages)) {}

    void write() noexcept {
        print_head();
        m_is_complete = m_threads.collect(m_scheduler, m_why.circles);
        find_circles();
        if (m_why.is_request) print_counts();
        m_out.flush(); // names may take long
        find_names();
        for (auto const& circle : m_circles) print_circle(circle);
        std::size_t shown = 0;
        for (thread_group const& g : m_threads.groups()) {
            if (shown++ == k_most_groups) break;
            print_group(g);
        }
        if (m_threads.groups().size() > k_most_groups)
            m_out.print("\nand %zu more kinds of threads\n",
                        m_threads.groups().size() - k_most_groups);
        if (!m_is_complete)
            m_out.print("\nmemory was short: threads, circles or names are missing here\n");
        if (m_why.goes_on)
            m_out.print("\ntulle: the program goes on, as the option deadlock is warn\n");
        m_out.flush();
    }

private:
    void find_circles() noexcept try {
        m_circles = m_threads.graph().circles(k_most_circles_told);
    } catch (std::bad_alloc const&) {
        m_is_complete = false;
    }
    void find_names() noexcept try {
        for (thread_group const& g : m_threads.groups()) want(g);
        m_symbols.resolve();
    } catch (std::bad_alloc const&) {
        m_is_complete = false;
    }
    void want(thread_group const& g) {
        for (std::uintptr_t const pc : g.pcs) m_symbols.want(pc);
        if (g.first.site != nullptr)
            m_symbols.want(call_before(g.first.site));
        else if (g.first.stolen != nullptr)
            want_runner(m_symbols, reinterpret_cast<std::uintptr_t>(g.first.stolen->run));
    }

    // It is printed before anything that takes memory, of which there may be none.
    void print_head() noexcept {
        if (m_why.is_request) return;
        std::size_t const waiting = sched::census(m_scheduler).count_waiting();
        char const* const wait = waiting == 1 ? "thread waits" : "threads wait";
        std::uint64_t const unstarted = sched::census(m_scheduler).unstarted().all();
        switch (m_why.found) {
            case sched::standstill::deadlock:
                m_out.print(
                    "tulle: deadlock: %zu %s, and nothing is left that could wake one (process %d",
                    waiting, wait, m_process);
                break;
            case sched::standstill::no_stack:
                m_out.print(
                    "tulle: deadlock: %zu %s, %" PRIu64
                    " more %s not started, and there is no stack for another one (process %d",
                    waiting, wait, unstarted, unstarted == 1 ? "has" : "have", m_process);
                break;
            case sched::standstill::awaits_signal:
                m_out.print("tulle: warning: %zu %s, and nothing is left that could wake one but a "
                            "handler of %s (process %d",
                            waiting, wait, signal_names().text, m_process);
                break;
            case sched::standstill::circle:
                m_out.print("tulle: warning: some threads wait for each other in a circle; others "
                            "may go on (process %d",
                            m_process);
                break;
        }
        if (m_scheduler.chosen().seed != 0)
            m_out.print("; TULLE_SEED=%" PRIu64 " repeats this run", m_scheduler.chosen().seed);
        m_out.print(")\n");
        if (m_why.found == sched::standstill::no_stack) print_stack_limit(m_out, m_scheduler);
        m_out.flush();
    }
    [[nodiscard]] phrase signal_names() const noexcept {
        for (int signal = 1; signal <= 64; ++signal) {
            if ((m_why.signals & os::signal_bit(signal)) == 0) continue;
            bool const is_only = m_why.signals == os::signal_bit(signal);
            char const* const name = os::name_of_signal(signal);
            if (name == nullptr)
                return phrase::make("signal %d%s", signal, is_only ? "" : " or of others");
            return phrase::make("%s%s", name, is_only ? "" : " or of others");
        }
        return phrase::make("%s", "a signal");
    }
    void print_counts() noexcept {
        sched::unstarted_counts const more = sched::census(m_scheduler).unstarted();
        m_out.print("tulle: process %d: %zu threads with a stack, %zu of them running on %d "
                    "workers; %" PRIu64 " in queues%s\n",
                    m_process, m_threads.count(), m_threads.running(), m_scheduler.chosen().workers,
                    more.all(), more.starving != 0 ? ", some of which find no stack" : "");
        print_substitutes(m_scheduler.watching().view());
    }
    void print_substitutes(sched::watcher_view const& seen) noexcept {
        if (seen.in_kernel + seen.computing == 0) return;
        char const* const call = os::name_of_call(seen.last_call);
        m_out.print("    %d substitutes run; workers were found in the kernel %" PRIu64
                    " times%s%s, computing for long %" PRIu64
                    " times, and substitutes were added %" PRIu64 " times\n",
                    seen.substitutes, seen.in_kernel, call != nullptr ? ", last in " : "",
                    call != nullptr ? call : "", seen.computing, seen.substituted);
    }
    void print_circle(std::pmr::vector<wait_graph::node> const& circle) noexcept {
        m_out.print("\nin a circle:\n");
        for (wait_graph::node const& n : circle)
            m_out.print("  %s waits for %s\n", name_of(n.id).text, target_of(n.waits, true).text);
    }

    void print_group(thread_group const& g) noexcept {
        m_out.print("\n");
        print_who(g);
        if (g.first.waits.kind != wait::wait_kind::nothing)
            m_out.print(g.count == 1 ? " waits for %s\n" : " wait for %s\n",
                        target_of(g.first.waits, g.same_object).text);
        else if (g.first.worker >= 0)
            m_out.print(g.count == 1 ? " runs on worker %d%s\n" : " run on worker %d%s\n",
                        g.first.worker, stuck_in(g.first).text);
        else if (g.first.stack_kind == sched::fiber_kind::guest)
            m_out.print(" (OS thread %d) does something else\n", g.first.tid);
        else
            m_out.print(g.count == 1 ? " is ready\n" : " are ready\n");
        if (g.count == 1 && g.first.outer_count != 0)
            m_out.print("    in the place of %s, which joins it\n", name_of(g.first.outer[0]).text);
        print_origin(g.first);
        print_stack(g);
    }
    void print_who(thread_group const& g) noexcept {
        if (g.count == 1) return m_out.print("%s", name_of(g.ids[0]).text);
        m_out.print("%zu threads", g.count);
        char const* separator = " (";
        for (std::size_t k = 0; k < g.count && k < thread_group::k_most_ids; ++k) {
            if (g.ids[k] == 0) continue;
            m_out.print("%s%" PRIu64, separator, g.ids[k]);
            separator = ", ";
        }
        if (separator[0] == ',') m_out.print(g.count > thread_group::k_most_ids ? ", ...)" : ")");
    }
    void print_origin(sched::thread_view const& seen) noexcept {
        if (seen.site != nullptr) return print_site(m_out, m_symbols.at(call_before(seen.site)));
        if (seen.stolen != nullptr) {
            m_out.print("    ");
            print_callable(
                m_out, runner_at(m_symbols, reinterpret_cast<std::uintptr_t>(seen.stolen->run)));
        }
    }
    void print_stack(thread_group const& g) noexcept {
        std::size_t number = 0;
        for (std::uintptr_t const pc : g.pcs) {
            for (symbol const& s : m_symbols.at(pc)) {
                if (!is_internal(s)) print_call(m_out, number++, s);
            }
        }
        if (g.cut) m_out.print("    ...\n");
    }

    sched::scheduler& m_scheduler;
    report_reason const m_why;
    int m_process;
    text_output m_out;
    os::mapped_memory m_pages;
    report_reserve m_reserve;
    std::pmr::monotonic_buffer_resource m_memory;
    thread_groups m_threads{m_memory};
    symbol_table m_symbols{m_memory, !m_why.is_request && !m_why.is_in_copy};
    std::pmr::vector<std::pmr::vector<wait_graph::node>> m_circles{&m_memory};
    bool m_is_complete = true; // false: memory was short
};

} // namespace

void write_report(sched::scheduler& scheduler, report_reason const& why, int process,
                  int output) noexcept {
    writer(scheduler, why, process, output).write();
}

} // namespace tulle::diag
