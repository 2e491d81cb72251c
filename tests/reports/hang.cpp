// SPDX-License-Identifier: Apache-2.0
// Hangs, or seems to, in the way that its first argument names. Driven by *_test.py.
#include "sanitizer_name.hpp"

#include <tulle.h>
#include <tulle/tulle.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

constexpr auto k_longer_than_the_grace = 400ms;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int k_many = 1'000; // ThreadSanitizer knows 8,000 threads at most
#else
constexpr int k_many = 100'000;
#endif

tulle::mutex first, second;
tulle::thread<void> self_joining[2];
std::atomic<bool> stop{false};

template <class Mutex>
TULLE_NOINLINE void lock_both(Mutex& one, Mutex& other, tulle::barrier& met) {
    std::lock_guard const outer(one);
    met.arrive_and_wait();
    std::lock_guard const inner(other);
}

void mutex_cycle() {
    tulle::barrier met(2);
    auto const lock = [&met](auto& one, auto& other) { lock_both(one, other, met); };
    auto left = tulle::spawn({.name = "left"}, [&] { lock(first, second); }); // line: left
    auto right = tulle::spawn({.name = "right"}, [&] { lock(second, first); });
    left.join();
    right.join();
}

// Two that wait for each other, whatever others do.
template <class Mutex> void make_circle(Mutex& one, Mutex& other) {
    static tulle::barrier s_met(2);
    tulle::spawn_detached({.name = "left"}, [&] { lock_both(one, other, s_met); });
    tulle::spawn_detached({.name = "right"}, [&] { lock_both(other, one, s_met); });
}

// tulle_rmutex_t as a mutex of C++.
struct c_recursive_mutex {
    tulle_rmutex_t m{};
    void lock() { tulle_rmutex_lock(&m); }
    void unlock() { tulle_rmutex_unlock(&m); }
};
tulle::recursive_mutex first_recursive, second_recursive;
c_recursive_mutex first_in_c, second_in_c;
char first_byte = 0, second_byte = 0;
tulle::address_lock first_address(&first_byte), second_address(&second_byte);

void recursive_cycle() {
    make_circle(first_recursive, second_recursive);
    tulle::latch(1).wait();
}

void c_recursive_cycle() {
    make_circle(first_in_c, second_in_c);
    tulle::latch(1).wait();
}

[[noreturn]] void tick() {
    for (;;) tulle::this_thread::sleep_for(2ms);
}

void circle_of_recursive_mutexes_beside_a_ticking_thread() {
    make_circle(first_recursive, second_recursive);
    tick();
}

void circle_of_addresses_beside_a_ticking_thread() {
    make_circle(first_address, second_address);
    tick();
}

void lost_signal() {
    tulle::signal news(2);
    auto waiter = tulle::spawn([&news] { news.wait(); });
    auto teller = tulle::spawn([&news] { news.notify(); });
    teller.join();
    waiter.join();
}

void lost_notification() {
    tulle::condition_variable changed;
    changed.notify_all(); // nobody waits yet
    std::unique_lock held(first);
    changed.wait(held);
}

void join_cycle() {
    tulle::latch both_are_there(1);
    for (int k = 0; k < 2; ++k) {
        self_joining[k] = tulle::spawn([k, &both_are_there] {
            both_are_there.wait();
            self_joining[1 - k].join();
        });
    }
    tulle::this_thread::yield(); // both start, so that nobody runs them in its place
    tulle::this_thread::sleep_for(50ms);
    both_are_there.count_down();
    tulle::latch(1).wait();
}

void forked() {
    tulle::latch never(1);
    std::atomic<bool> stolen{false};
    auto child = tulle::fork([&] {
        stolen = true;
        never.wait();
    });
    while (!stolen) tulle::detail::cpu_pause(); // by the other worker
    child.join();
}

#if defined(__OPTIMIZE__)
constexpr char k_inlines[] = "yes";
#else
constexpr char k_inlines[] = "";
#endif

void in_a_scope() {
    tulle::latch never(1);
    std::atomic<bool> stolen{false};
    tulle::scope children;
    children.spawn([&] {
        stolen = true;
        never.wait();
    });
    while (!stolen) tulle::detail::cpu_pause(); // by the other worker
}

// One waits for a word by address, one for an object.
void never_filled() {
    long word = 0;
    tulle::feb::empty(word);
    tulle::full_empty<int> object(1);
    auto taker =
        tulle::spawn({.name = "taker"}, [&word] { static_cast<void>(tulle::feb::read_fe(word)); });
    auto writer = tulle::spawn({.name = "writer"}, [&object] { object.write_ef(2); });
    taker.join();
    writer.join();
}

// Each holds an address that the other one wants.
void address_cycle() {
    static char s_left = 0, s_right = 0;
    tulle::barrier both(2);
    auto const lock_two = [&both](char& mine, char& yours) {
        tulle::address_lock of_mine(&mine), of_yours(&yours);
        std::lock_guard const held_mine(of_mine);
        both.arrive_and_wait();
        std::lock_guard const held_yours(of_yours);
    };
    auto one = tulle::spawn({.name = "one"}, [&] { lock_two(s_left, s_right); });
    auto other = tulle::spawn({.name = "other"}, [&] { lock_two(s_right, s_left); });
    one.join();
    other.join();
}

void never_kept() {
    tulle::promise<int> promise;
    auto reader =
        tulle::spawn({.name = "reader"}, [f = promise.get_future()]() mutable { return f.get(); });
    reader.join();
}

// The only place is held by one who waits for the other to start.
void no_place() {
    tulle::spawn_group group(1, tulle::when_full::block);
    tulle::latch started(1);
    group.spawn([&started] { started.wait(); });
    auto spawner = tulle::spawn({.name = "spawner"},
                                [&] { group.spawn([&started] { started.count_down(); }); });
    spawner.join();
}

// A circle over channels, a semaphore, a shared mutex, phases and a token; each in a thread of its
// name.
void many_kinds() {
    tulle::channel<int> full(1);
    tulle::channel<int> empty(3);
    tulle::counting_semaphore<> units(0);
    tulle::shared_mutex shared;
    tulle::phased_barrier phases(3);
    tulle::cancellation_source source;
    full.send(1);
    shared.lock_shared();
    std::vector<tulle::thread<void>> threads;
    auto const wait = [&threads](char const* name, auto f) {
        threads.push_back(tulle::spawn({.name = name}, f));
    };
    wait("sender", [&] { full.send(2); });
    wait("receiver", [&] { static_cast<void>(empty.receive()); });
    wait("selector", [&] {
        tulle::receive_case from(empty);
        tulle::send_case to(full, 3);
        static_cast<void>(tulle::select(from, to));
    });
    wait("taker", [&] { units.acquire(); });
    wait("writer", [&] { shared.lock(); });
    wait("participant", [&] { phases.arrive_and_wait(); });
    wait("listener", [&] { source.get_token().wait(); });
    for (auto& t : threads) t.join();
}

void missing_participant() {
    tulle::barrier all(4);
    std::vector<tulle::thread<void>> present;
    for (int k = 0; k < 3; ++k) present.push_back(tulle::spawn([&all] { all.arrive_and_wait(); }));
    for (auto& t : present) t.join();
}

void many() {
    tulle::latch never(1);
    std::vector<tulle::thread<void>> threads;
    for (int k = 0; k < k_many; ++k) threads.push_back(tulle::spawn([&never] { never.wait(); }));
    never.wait();
}

void count_of_many() { std::printf("%d\n", k_many); }

// As many latches as threads: one paragraph all the same.
void many_of_their_own() {
    std::vector<tulle::thread<void>> threads;
    for (int k = 0; k < 100; ++k) {
        threads.push_back(tulle::spawn([] {
            tulle::latch own(1);
            own.wait();
        }));
    }
    tulle::latch(1).wait();
}

// A guest waits for what main holds.
void guest_waits() {
    std::lock_guard const held(second);
    std::thread guest([] { std::lock_guard const waits(second); });
    tulle::latch(1).wait();
    guest.join();
}

// More threads meet than there are stacks for.
void more_threads_than_stacks() {
    tulle::barrier all(300);
    std::vector<tulle::thread<void>> threads;
    for (int k = 0; k < 300; ++k)
        threads.push_back(tulle::spawn([&all] { all.arrive_and_wait(); }));
    for (auto& t : threads) t.join();
}

// Main sleeps in the kernel while there is no stack for a substitute of its worker.
void more_threads_than_stacks_beside_a_blocked_worker() {
    tulle::barrier all(300);
    std::vector<tulle::thread<void>> threads;
    for (int k = 0; k < 300; ++k)
        threads.push_back(tulle::spawn([&all] { all.arrive_and_wait(); }));
    std::this_thread::sleep_for(100ms);
    for (auto& t : threads) t.join();
}

void more_forks_than_stacks() {
    tulle::barrier all(301);
    tulle::scope children;
    for (int k = 0; k < 300; ++k) children.spawn([&all] { all.arrive_and_wait(); });
    all.arrive_and_wait();
}

// Each waits for one that is spawned after it.
void chain_of_promises() {
    constexpr std::size_t k_length = 300;
    std::vector<tulle::promise<int>> links(k_length);
    std::vector<tulle::thread<void>> threads;
    for (std::size_t k = k_length - 1; k > 0; --k)
        threads.push_back(
            tulle::spawn([&links, k] { links[k].set_value(links[k - 1].get_future().get() + 1); }));
    threads.push_back(tulle::spawn([&links] { links[0].set_value(0); }));
    for (auto& t : threads) t.join();
}

// The system refuses stacks: the address space is limited to what is used now and room for some
// more.
void limit_memory() {
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{200} << 20U);
    ::setrlimit(RLIMIT_AS, &limit);
}

// Fewer, where those that run already have taken the memory for more.
template <class F> void spawn_and_join(std::size_t most, F const& f) {
    std::vector<tulle::thread<void>> threads;
    threads.reserve(most);
    limit_memory();
    try {
        while (threads.size() != most) threads.push_back(tulle::spawn(f));
    } catch (std::exception const&) { // there are enough of them
    }
    for (auto& t : threads) t.join();
}

void more_threads_than_memory() {
    tulle::barrier all(10000);
    spawn_and_join(10000, [&all] { all.arrive_and_wait(); });
}

void more_lockers_than_memory() {
    std::unique_lock const held(first);
    spawn_and_join(10000, [] { std::lock_guard const waits(first); });
}

void circle_beside_a_sleeping_os_thread() {
    std::thread([] { std::this_thread::sleep_for(1h); }).detach();
    make_circle(first, second);
    tulle::latch(1).wait();
}

void circle_beside_a_ticking_thread() {
    make_circle(first, second);
    tick();
}

// Prints how long its thread has had to wait at most.
void circle_beside_a_thread_that_measures() {
    make_circle(first, second);
    using clock = std::chrono::steady_clock;
    auto const end = clock::now() + 6s;
    clock::duration longest{};
    for (auto before = clock::now(); before < end;) {
        tulle::this_thread::sleep_for(2ms);
        auto const now = clock::now();
        longest = std::max(longest, now - before);
        before = now;
    }
    std::printf("%lld\n",
                static_cast<long long>(
                    std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()));
    std::fflush(stdout);
    std::_Exit(0);
}

void circle_beside_a_computing_thread() {
    make_circle(first, second);
    auto computing = tulle::spawn([] {
        for (;;) tulle::detail::cpu_pause();
    });
    tulle::this_thread::sleep_for(10ms);
    computing.join();
}

// The program has a handler, so whatever it is that comes may go on.
void waits_for_termination() {
    std::signal(SIGTERM, [](int) { std::_Exit(3); });
    std::signal(SIGALRM, SIG_DFL);
    tulle::latch(1).wait();
}

// Nobody can be waited for any more.
void gives_its_handler_up() {
    std::signal(SIGUSR1, [](int) { std::signal(SIGUSR1, SIG_DFL); });
    tulle::latch(1).wait();
}

void with_surplus_worker() {
    tulle::set_worker_count(1);
    tulle::latch(1).wait();
}

// --- not deadlocks -------------------------------------------------------------------------------

void waits_for_foreign_thread() {
    tulle::latch done(1);
    std::thread foreign([&done] {
        std::this_thread::sleep_for(k_longer_than_the_grace);
        done.count_down();
    });
    done.wait();
    foreign.join();
}

// The handler of the alarm is all that is left, and it ends the program in order. The test sends it
// sooner.
void waits_for_alarm() {
    std::signal(SIGALRM, [](int) { std::_Exit(0); });
    itimerval const once{{0, 0}, {100, 0}};
    ::setitimer(ITIMER_REAL, &once, nullptr);
    tulle::latch(1).wait();
}

// Locks are taken in two orders, and never at one time.
void locks_in_two_orders() {
    auto const end = std::chrono::steady_clock::now() + 2s;
    tulle::mutex turn;
    std::vector<tulle::thread<void>> threads;
    for (int k = 0; k < 4; ++k) {
        threads.push_back(tulle::spawn([k, end, &turn] {
            while (std::chrono::steady_clock::now() < end) {
                std::lock_guard const alone(turn);
                std::lock_guard const one(k % 2 == 0 ? first : second);
                std::lock_guard const other(k % 2 == 0 ? second : first);
                tulle::this_thread::yield();
            }
        }));
    }
    for (auto& t : threads) t.join();
}

void sleeps() { tulle::this_thread::sleep_for(k_longer_than_the_grace); }

void waits_with_deadline() {
    tulle::latch never(1);
    tulle::signal none(1);
    if (never.wait_for(k_longer_than_the_grace) || none.wait_for(k_longer_than_the_grace))
        std::abort();
}

void guest_sleeps() {
    tulle::latch done(1);
    std::thread guest([&done] {
        tulle::this_thread::yield();
        tulle::this_thread::sleep_for(k_longer_than_the_grace);
        done.count_down();
    });
    done.wait();
    guest.join();
}

void waits_for_system_call() {
    tulle::latch done(1);
    auto reader = tulle::spawn([&done] {
        ::usleep(400'000); // blocks its worker
        done.count_down();
    });
    done.wait();
    reader.join();
}

// By a worker that is to stand by when it has done so.
void surplus_worker_computes() {
    tulle::latch done(1);
    std::atomic<bool> started{false};
    auto child = tulle::fork([&] {
        started = true;
        auto const end = std::chrono::steady_clock::now() + k_longer_than_the_grace;
        while (std::chrono::steady_clock::now() < end) {}
        done.count_down();
    });
    while (!started) tulle::detail::cpu_pause();
    tulle::set_worker_count(1);
    done.wait();
    child.join();
}

void computes() {
    auto busy = tulle::spawn([] {
        auto const end = std::chrono::steady_clock::now() + k_longer_than_the_grace;
        while (std::chrono::steady_clock::now() < end) {}
    });
    tulle::this_thread::yield();
    busy.join();
}

// The foreign thread ends without a word, long after all is blocked.
void last_foreign_thread_ends() {
    std::thread([] { std::this_thread::sleep_for(250ms); }).detach();
    tulle::latch(1).wait();
}

// --- to be asked ---------------------------------------------------------------------------------

TULLE_NOINLINE void compute_until_stopped() {
    while (!stop.load(std::memory_order_relaxed)) tulle::detail::cpu_pause();
}

void busy() {
    tulle::latch never(1);
    std::vector<tulle::thread<void>> waiting;
    std::atomic<int> begun{0};
    for (int k = 0; k < 10; ++k)
        waiting.push_back(tulle::spawn([&] {
            ++begun;
            never.wait();
        }));
    auto sleeper = tulle::spawn({.name = "sleeper"}, [&begun] {
        ++begun;
        tulle::this_thread::sleep_for(1h);
    });
    while (begun != 11) tulle::this_thread::yield();
    tulle::this_thread::sleep_for(20ms); // nothing tells that they wait by now
    std::atomic<bool> computes{false};
    auto computing = tulle::spawn([&computes] {
        computes = true;
        compute_until_stopped();
    });
    while (!computes) tulle::detail::cpu_pause(); // by the other worker
    std::puts("ready");
    std::fflush(stdout);
    std::string line(100, ' ');
    // Until the test says a word.
    while (std::fgets(line.data(), static_cast<int>(line.size()), stdin) == nullptr)
        std::clearerr(stdin);
    std::_Exit(7);
}

// What no program may do, in a thread that has a stack of its own and in one of the system's.
void counts_too_far() {
    tulle::latch one(1);
    one.count_down(2); // line: too far
}
void counts_too_far_in_a_thread() { tulle::spawn(&counts_too_far).join(); }
void counts_too_far_in_an_os_thread() { std::thread(&counts_too_far).join(); }

void busy_with_own_handler() {
    std::signal(SIGQUIT, [](int) { std::_Exit(9); });
    busy();
}

void busy_with_sigquit_as_it_was() {
    std::signal(SIGQUIT, SIG_DFL);
    busy();
}

// A worker that takes the signal when everybody else has been told to go on.
void holds_sigquit_back() {
    std::atomic<bool> is_held{false};
    auto holding = tulle::spawn([&is_held] {
        sigset_t quit;
        sigemptyset(&quit);
        sigaddset(&quit, SIGQUIT);
        ::pthread_sigmask(SIG_BLOCK, &quit, nullptr);
        is_held = true;
        auto const end = std::chrono::steady_clock::now() + 2s;
        while (std::chrono::steady_clock::now() < end) {}
        ::pthread_sigmask(SIG_UNBLOCK, &quit, nullptr);
    });
    while (!is_held) tulle::detail::cpu_pause(); // by the other worker
    std::puts("ready");
    std::fflush(stdout);
    holding.join();
}

std::map<std::string, void (*)()> const k_ways{
    {"counts_too_far", &counts_too_far},
    {"counts_too_far_in_a_thread", &counts_too_far_in_a_thread},
    {"counts_too_far_in_an_os_thread", &counts_too_far_in_an_os_thread},
    {"mutex_cycle", &mutex_cycle},
    {"recursive_cycle", &recursive_cycle},
    {"c_recursive_cycle", &c_recursive_cycle},
    {"circle_of_recursive_mutexes_beside_a_ticking_thread",
     &circle_of_recursive_mutexes_beside_a_ticking_thread},
    {"circle_of_addresses_beside_a_ticking_thread", &circle_of_addresses_beside_a_ticking_thread},
    {"lost_signal", &lost_signal},
    {"lost_notification", &lost_notification},
    {"join_cycle", &join_cycle},
    {"forked", &forked},
    {"in_a_scope", &in_a_scope},
    {"never_filled", &never_filled},
    {"address_cycle", &address_cycle},
    {"never_kept", &never_kept},
    {"no_place", &no_place},
    {"many_kinds", &many_kinds},
    {"missing_participant", &missing_participant},
    {"many", &many},
    {"count_of_many", &count_of_many},
    {"many_of_their_own", &many_of_their_own},
    {"guest_waits", &guest_waits},
    {"waits_for_foreign_thread", &waits_for_foreign_thread},
    {"sleeps", &sleeps},
    {"waits_with_deadline", &waits_with_deadline},
    {"guest_sleeps", &guest_sleeps},
    {"waits_for_system_call", &waits_for_system_call},
    {"computes", &computes},
    {"surplus_worker_computes", &surplus_worker_computes},
    {"more_threads_than_stacks", &more_threads_than_stacks},
    {"more_threads_than_stacks_beside_a_blocked_worker",
     &more_threads_than_stacks_beside_a_blocked_worker},
    {"more_forks_than_stacks", &more_forks_than_stacks},
    {"chain_of_promises", &chain_of_promises},
    {"more_threads_than_memory", &more_threads_than_memory},
    {"more_lockers_than_memory", &more_lockers_than_memory},
    {"circle_beside_a_sleeping_os_thread", &circle_beside_a_sleeping_os_thread},
    {"circle_beside_a_ticking_thread", &circle_beside_a_ticking_thread},
    {"circle_beside_a_thread_that_measures", &circle_beside_a_thread_that_measures},
    {"circle_beside_a_computing_thread", &circle_beside_a_computing_thread},
    {"waits_for_termination", &waits_for_termination},
    {"gives_its_handler_up", &gives_its_handler_up},
    {"waits_for_alarm", &waits_for_alarm},
    {"locks_in_two_orders", &locks_in_two_orders},
    {"with_surplus_worker", &with_surplus_worker},
    {"last_foreign_thread_ends", &last_foreign_thread_ends},
    {"busy", &busy},
    {"busy_with_own_handler", &busy_with_own_handler},
    {"busy_with_sigquit_as_it_was", &busy_with_sigquit_as_it_was},
    {"holds_sigquit_back", &holds_sigquit_back}};

} // namespace

int main(int, char** arguments) {
    ::alarm(100);
    if (std::string_view(arguments[1]) == "inlines") return std::puts(k_inlines) < 0 ? 1 : 0;
    if (std::string_view(arguments[1]) == "sanitizer") return std::puts(k_sanitizer) < 0 ? 1 : 0;
    static_cast<void>(tulle::worker_count()); // starts the run time
    k_ways.at(arguments[1])();
    std::puts("done");
    return 0;
}
