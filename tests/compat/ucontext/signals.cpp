// SPDX-License-Identifier: Apache-2.0
//
// Signal masks of contexts, and contexts that the kernel has saved for a handler.
#include "cases.hpp"

#include <csignal>
#include <sys/time.h>

namespace cases {
namespace {

ucontext_t s_main;
ucontext_t s_other;

bool is_blocked(int signal) {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return sigismember(&now, signal) == 1;
}

void print_mask(char const* who) {
    std::printf("%s: USR1 %d, USR2 %d\n", who, is_blocked(SIGUSR1), is_blocked(SIGUSR2));
}

void change(int how, int signal) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(how, &one, nullptr);
}

// ---- each context has the mask that it set, at first that of getcontext

void block_here() {
    print_mask("context at first");
    change(SIG_BLOCK, SIGUSR2);
    swapcontext(&s_other, &s_main);
    print_mask("context again");
}

void masks() {
    stack memory;
    change(SIG_BLOCK, SIGUSR1);
    prepare(s_other, memory, &s_main, &block_here);
    change(SIG_UNBLOCK, SIGUSR1);
    swapcontext(&s_main, &s_other);
    print_mask("main");
    swapcontext(&s_main, &s_other);
    print_mask("main at last");
}

// ---- a program changes the mask in a context that it has saved

void masks_in_memory() {
    stack memory;
    prepare(s_other, memory, &s_main, [] { print_mask("context"); });
    sigaddset(&s_other.uc_sigmask, SIGUSR1);
    sigaddset(&s_other.uc_sigmask, SIGKILL); // is ignored
    swapcontext(&s_main, &s_other);
    print_mask("main");
}

// ---- a handler switches to a context, and the interrupted one goes on later

void handle_by_switch(int) {
    print_mask("handler");
    swapcontext(&s_other, &s_main);
    print_mask("handler again");
}

void interrupted() {
    std::raise(SIGUSR1);
    print_mask("context");
}

void install(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(signal, &action, nullptr);
}

void switch_in_handler() {
    stack memory;
    install(SIGUSR1, &handle_by_switch);
    prepare(s_other, memory, &s_main, &interrupted);
    swapcontext(&s_main, &s_other);
    print_mask("main");
    swapcontext(&s_main, &s_other);
    print_mask("main at last");
}

// ---- setcontext to the context that a handler gets, in it and later; swapcontext likewise

ucontext_t s_from_kernel;
int volatile s_step = 0;

// What the kernel leaves of a ucontext_t; its own structure ends behind the mask.
void keep(ucontext_t const& given) {
    s_from_kernel.uc_flags = given.uc_flags;
    s_from_kernel.uc_link = given.uc_link;
    s_from_kernel.uc_stack = given.uc_stack;
    s_from_kernel.uc_mcontext = given.uc_mcontext;
    sigemptyset(&s_from_kernel.uc_sigmask);
    for (int signal : {SIGUSR1, SIGUSR2})
        if (sigismember(&given.uc_sigmask, signal) == 1)
            sigaddset(&s_from_kernel.uc_sigmask, signal);
}

void leave_by_setcontext(int, siginfo_t*, void* given) {
    std::printf("handler at step %d\n", s_step);
    s_step = s_step + 1;
    keep(*static_cast<ucontext_t*>(given));
    setcontext(&s_from_kernel);
    std::puts("never");
}

void leave_by_swapcontext(int, siginfo_t*, void* given) {
    static ucontext_t given_up;
    s_step = s_step + 1;
    keep(*static_cast<ucontext_t*>(given));
    swapcontext(&given_up, &s_from_kernel);
    std::puts("never");
}

void raise_with(int signal, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(signal, &action, nullptr);
    std::raise(signal);
    std::printf("raised: step %d, ", s_step);
    print_mask("mask");
}

void handlers_context() {
    raise_with(SIGUSR1, &leave_by_setcontext);
    raise_with(SIGUSR2, &leave_by_swapcontext);
    raise_with(SIGUSR1, &leave_by_swapcontext);
}

// ---- a handler goes to a context that main has saved

void to_main(int) { setcontext(&s_main); }

void out_of_handler() {
    install(SIGUSR1, &to_main);
    int volatile count = 0;
    getcontext(&s_main);
    count = count + 1;
    print_mask("main");
    if (count < 4) std::raise(SIGUSR1);
}

// ---- signals at any time, while contexts switch

long volatile s_alarms = 0;

void turn_around() {
    while (true) swapcontext(&s_other, &s_main);
}

void alarms() {
    stack memory;
    install(SIGALRM, [](int) { s_alarms = s_alarms + 1; });
    prepare(s_other, memory, &s_main, &turn_around);
    itimerval const often{{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, nullptr);
    while (s_alarms < 200) swapcontext(&s_main, &s_other);
    itimerval const never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    print_mask("main");
}

named_case const s_masks("masks", &masks);
named_case const s_masks_in_memory("masks_in_memory", &masks_in_memory);
named_case const s_switch_in_handler("switch_in_handler", &switch_in_handler);
named_case const s_handlers_context("handlers_context", &handlers_context);
named_case const s_out_of_handler("out_of_handler", &out_of_handler);
named_case const s_alarms_case("alarms", &alarms);

} // namespace
} // namespace cases
