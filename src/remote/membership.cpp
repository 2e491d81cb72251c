// SPDX-License-Identifier: Apache-2.0
#include "remote/membership.hpp"

#include "base/error.hpp"
#include "net/shm_transport.hpp"
#include "os/clock.hpp"
#include "remote/engine.hpp"
#include "remote/image.hpp"
#include "sched/scheduler.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::remote {

namespace {

constexpr char const* k_variable = "TULLE_PLACE";
constexpr std::uint64_t k_second_ns = 1'000'000'000;
constexpr std::uint64_t k_look_for_places_ns = 1'000'000;

struct assignment {
    rank here = 0;
    rank count = 0;
    int descriptor = -1;
};

// Never destroyed: its service thread runs until the process ends, or leave().
std::unique_ptr<engine>& own_engine() {
    static auto* const s_own = new std::unique_ptr<engine>;
    return *s_own;
}
net::session const* s_session = nullptr;

assignment read_assignment(char const* text) {
    assignment a;
    char rest = 0;
    if (std::sscanf(text, "%u/%u@shm:%d%c", &a.here, &a.count, &a.descriptor, &rest) != 3 || a.here >= a.count)
        base::fatal("%s is '%s', which is not RANK/COUNT@shm:DESCRIPTOR: start places with `tulle run -n N PROG`", k_variable, text);
    return a;
}

net::session take_session(assignment const& a) {
    net::session found = net::session::adopt(a.descriptor);
    if (!found.is_valid())
        base::fatal(
            "place %u cannot map the memory of the places (descriptor %d: %s); it is made and inherited by `tulle run` of the same version",
            a.here, a.descriptor, std::strerror(errno));
    if (found.places() != a.count) base::fatal("place %u of %u has inherited the memory of %u places", a.here, a.count, found.places());
    return found;
}

// All must run the same program: code is named by its place in it.
void compare_programs(net::session const& all, rank here) {
    std::uint64_t first = 0;
    if (all.head().program.compare_exchange_strong(first, program_id()) || first == program_id()) return;
    base::fatal(
        "place %u runs another program than the places that started before it (build-ids differ): start the same file at all places", here);
}

void announce(net::session const& all, rank here) {
    net::place_entry& own = all.entry(here);
    auto expected = net::place_state::absent;
    own.process.store(getpid(), std::memory_order_relaxed); // relaxed: published by the next line
    if (!own.state.compare_exchange_strong(expected, net::place_state::joined, std::memory_order_acq_rel))
        base::fatal("place %u is taken already", here);
    all.entry(0).bell.wake();
}

void say_death(net::place_entry const& e, rank which) {
    int const status = e.wait_status.load(std::memory_order_relaxed); // relaxed: published by the state
    if (WIFSIGNALED(status))
        base::fatal("place %u was ended by signal %d (%s) before it took part", which, WTERMSIG(status), strsignal(WTERMSIG(status)));
    base::fatal("place %u ended with exit code %d before it used Tulle", which, WEXITSTATUS(status));
}

// Place 0.
void wait_for_all(net::session const& all, net::transport& own) {
    std::uint64_t complain_at = os::monotonic_ns() + 10 * k_second_ns;
    for (rank r = 1; r < all.places();) {
        net::place_entry const& e = all.entry(r);
        auto const state = e.state.load(std::memory_order_acquire); // pairs with announce and declare_dead
        if (state == net::place_state::dead) say_death(e, r);
        if (state != net::place_state::absent) {
            ++r;
            continue;
        }
        std::uint64_t const now = os::monotonic_ns();
        if (now >= complain_at) {
            base::warn("place 0 waits for place %u, which has not used Tulle yet", r);
            complain_at = now + 60 * k_second_ns;
        }
        own.arm();
        own.sleep(now + k_look_for_places_ns);
    }
}

// Any other place.
[[noreturn]] void serve(engine& e) {
    e.told_end().wait();
    s_session->entry(e.here()).state.store(net::place_state::left, std::memory_order_release);
    std::exit(EXIT_SUCCESS); // NOLINT(concurrency-mt-unsafe)
}

void join(assignment const& a) {
    auto transport = std::make_unique<net::shm_transport>(take_session(a), a.here);
    s_session = &transport->joined();
    net::transport& own = *transport;
    compare_programs(*s_session, a.here);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); // where Yama restricts who may read our memory: the other places may
    own_engine() = std::make_unique<engine>(std::move(transport));
    engine& e = *own_engine();
    set_engine_of_process(&e);
    announce(*s_session, a.here);
    if (a.here == 0) wait_for_all(*s_session, own);
    e.start();
    sched::scheduler::instance().set_idle_poller(&e);
    if (a.here != 0) serve(e);
    std::atexit(&leave);
}

} // namespace

bool is_asked_to_join() noexcept { return std::getenv(k_variable) != nullptr; } // NOLINT(concurrency-mt-unsafe)

void join_from_environment() try {
    char const* const text = std::getenv(k_variable); // NOLINT(concurrency-mt-unsafe)
    if (text == nullptr) return;
    assignment const a = read_assignment(text);
    unsetenv(k_variable); // NOLINT(concurrency-mt-unsafe): programs that this one starts are no places
    join(a);
} catch (std::exception const& e) {
    base::fatal("cannot become a place: %s", e.what());
}

void leave() noexcept {
    engine* const e = engine_of_process();
    if (e == nullptr || e->here() != 0) return;
    e->tell_end();
    s_session->entry(0).state.store(net::place_state::left, std::memory_order_release);
    sched::scheduler::instance().set_idle_poller(nullptr);
    set_engine_of_process(nullptr);
}

void forget() noexcept {
    if (engine_of_process() == nullptr) return;
    sched::scheduler::instance().set_idle_poller(nullptr);
    set_engine_of_process(nullptr);
    static_cast<void>(own_engine().release()); // the service thread is the parent's
}

} // namespace tulle::remote
