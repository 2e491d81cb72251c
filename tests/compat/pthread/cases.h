// SPDX-License-Identifier: Apache-2.0
// What cases share.
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#define SHOW(expression) printf("%s: %d\n", #expression, (int)(expression))

// What a call returns, and errno where it fails.
#define SHOW_CALL(expression)                                                                      \
    do {                                                                                           \
        errno = 0;                                                                                 \
        long const result_of_call = (long)(expression);                                            \
        int const error_of_call = result_of_call < 0 ? errno : 0;                                  \
        printf("%s: %ld, errno %d\n", #expression, result_of_call, error_of_call);                 \
    } while (0)

#ifdef __cplusplus
extern "C" {
#endif

// What the thread returns.
void* in_thread(void* (*f)(void*), void* argument);
// Calls it in a thread, and in main.
void in_both(void* (*f)(void*));
// Its exit code; negative: the signal that has ended it.
int end_of(pid_t child);
struct timespec in_ms_of(clockid_t clock, long ms);
// A thread that waits until the other one is called, and returns 42.
void* wait_for_count(void* unused);
void set_count(void);
// A thread that does next to nothing.
void* add_own(void* argument);

// --- signal_cases.c
void interruptions(void);
void signals_at_locks(void);
void masks(void);
void awaited(void);
void for_one_thread(void);
void at_computing(void);
void standard_action(void);
void signals_of_children(void);
void left_to_process(void);
void lent(void);
void interrupted_main(void);
void masked_polls(void);
void mask_at_start(void);
void faults(void);
void awaited_without_handlers(void);
void jumps_of_handlers(void);
void stacks_of_handlers(void);

// --- mask_cases.c
void kept_out_of_waits(void);
void signals_after_main(void);
void interrupted_one_by_one(void);
void kept_out_of_computing(void);
void starts_after_unwanted(void);

// --- own_signal_cases.c
void kills_of_callers(void);
void kills_that_are_blocked(void);
void kills_at_ends(void);
void kills_by_destructors(void);
void kills_without_main(void);
void kills_by_handlers(void);
void jumps_out_of_kills(void);
void kills_beside_handlers_of_main(void);
void waits_for_both_of_own(void);
void kills_at_other_masks(void);
void kills_in_handlers_of_own(void);
void kills_by_os_threads(void);
void ends_in_calls_of_signals(void);

// --- own_wait_cases.c
void kills_at_waits_of_main(void);
void kills_of_two_at_once(void);
void kernels_signals_by_handlers(void);
void cancelled_ahead_of_waits(void);
void asked_with_other_masks(void);
void handled_at_ends_of_commands(void);
void kills_of_who_is_ended(void);
void kills_by_profilers(void);
void kills_in_handlers_of_children(void);

// --- kernel_signal_cases.c
void posts_from_anywhere(void);
void actions_of_kernels_signals(void);
void jumps_of_kernels_signals(void);
void raises_from_anywhere(void);
void posts_after_jumps_within(void);
void jumps_within_and_out(void);
void ends_of_children_in_handlers(void);
void wakes_of_some_by_handlers(void);

// --- poll_cases.c
void asked_in_turn(void);
void asked_by_many(void);
void polls_of_one(void);
void closed_of_several(void);
void numbers_of_sockets(void);
void asked_at_once(void);
void waits_for_several(void);
void waits_of_different_kinds(void);
void select_that_is_interrupted(void);
void waits_that_the_kernel_takes_over(void);
void numbers_of_files(void);

// --- closing_cases.c
void closed_by_number(void);
void numbers_of_the_run_time(void);

// --- cancel_cases.c
void pending_in_main(void);
void points_of_main(void);
void waits_of_main(void);
void waits_on_own_stacks(void);
void shielded_on_own_stacks(void);
void interrupted_on_own_stacks(void);
void points_of_threads(void);
void crowds_in_kernel(void);
void handlers_in_kernel(void);
void waits_without_os_threads(void);
void early_waits(void);

// --- socket_cases.c
void modes_of_sockets(void);
void set_mode(int number);

// --- output_signal_cases.c
void signals_of_broken_pipes(void);

// --- connection_cases.c
void shut_down_under_reads(void);
void pipes_without_writers(void);
void connections_made_again(void);
void broken_connections(void);
void flags_of_output(void);
void least_to_receive(void);
void whole_messages(void);
void crowds_at_streams(void);
void limits_of_parts(void);
void transfers_of_both_modes(void);
void other_ends_of_terminals(void);
void terminals_of_others(void);
void asked_beside_signals(void);

// --- transfer_cases.c
void transfers_to_nobody(void);
void spliced_at_once(void);
void spliced_beside_writer(void);
void late_transfers(void);
void packets_to_nobody(void);
void transfers_in_vain(void);
void parts_that_are_nowhere(void);
void parts_of_numbers(void);
void early_transfers(void);
void limits_of_whole_messages(void);
void parts_of_the_cancelled(void);

// --- scheduling_cases.c
void scheduling_of_one_thread(void);
void attributes_of_scheduling(void);
void system_calls_for_one_thread(void);
void scheduling_of_the_made(void);
void scheduling_among_other_users(void);

// --- sandbox_cases.c
void calls_refused_later(void);

// --- allocator_cases.c
void allocator_and_os_threads(void);
void allocator_and_idleness(void);
void allocator_and_forks(void);
void allocator_and_names(void);
void allocator_and_helpers(void);
void allocator_and_variables(void);
void allocator_and_first_values(void);

// --- edge_cases.c
void edges_of_descriptors(void);
void edges_of_signals(void);
void forks_with_locks(void);
void last_of_all(void);
void posts_of_handlers(void);
void identities(void);
void changed_words(void);
void newer_calls_on_words(void);

// --- wait_cases.c
void handlers_at_locks(void);
void handlers_at_once(void);
void ends_at_locks(void);
void cancelled_at_mutex(void);
void cancelled_computing(void);
void called_at_yields(void);
void called_at_tries(void);
void cancelled_shielded(void);
void blocked_aborts(void);
void aborts_for_one_thread(void);
void last_signals(void);
void exits_of_children(void);
void gone_threads(void);
void refused_joins(void);
void joins_of_os_threads(void);
void inherited_scheduling(void);
void crowds_at_shared_mutexes(void);
void syncs_beside_sleepers(void);

// --- life_cases.c
void cancelled_main(void);
void exits_of_main(void);
void ends_of_os_threads(void);
void signals_and_failures(void);
void exits_in_destructors(void);
void exits_by_system_call(void);
void described_early(void);
void default_attributes(void);
void forks_beside_own_stacks(void);
void memory_in_children(void);
void large_guards(void);
void whole_stacks(void);
void large_stacks(void);
void floating_point(void);

// --- process_cases.c
void masks_of_programs(void);
void vforks(void);
void forks_among_others(void);
void forks_at_begin(void);
void once_over_fork(void);
void waits_for_children(void);
void cancelled_waits(void);
void shared_mutexes(void);
void robust_mutexes(void);
void blocking_calls(void);
void errno_after_waits(void);

// --- child_cases.c
void handlers_at_waits_for_children(void);
void joins_in_children(void);
void commands_at_once(void);

// --- plain_lock_cases.c
void mutexes(void);
void mutexes_of_others(void);
void exclusion(void);
void conditions(void);
void times(void);
void rwlocks(void);
void rwlock_in_turns(void);
void locks_that_go(void);
void barriers(void);
void once(void);
void semaphores(void);

// --- lock_cases.c
void shared_conditions(void);
void signals_to_the_cancelled(void);
void ceilings(void);
void ceiling_locks(void);

// --- shared_cases.c
void shared_semaphores(void);
void named_semaphores(void);
void shared_barriers(void);
void shared_rwlocks(void);
void robust_waits(void);
void inheriting_mutexes(void);

// --- queue_cases.c
void file_locks(void);
void queues(void);
void transfers(void);

// --- rule_cases.c
void rules_of_attributes(void);
void rules_of_threads(void);
void rules_of_ended_threads(void);
void names_of_threads(void);
void names_by_prctl(void);
void processors_of_threads(void);
void rules_of_keys(void);
void rules_of_locks(void);
void rules_of_fork(void);
void times_of_threads(void);
void hold_named(void);
void overflow_a_stack(void);

// --- signal_rule_cases.c
void rules_of_signals(void);

// --- signal_value_cases.c
void values_of_signals(void);
void senders_of_signals(void);
void queue_of_signals_is_full(void);

// --- c11_cases.c
void c11_threads(void);
void hold_c11(void);
void older_functions(void);
void deferred_cleanups(void);
void second_names(void);
void hosts(void);
void memory_of_threads(void);

// --- float_cases.c
void floats_of_threads(void);

// --- variable_cases.c
void variables_used_again(void);
void variables_of_many(void);
void aligned_variables(void);
void parts_of_threads(void);
void late_variables(void);
void late_variables_of_few_bytes(void);
void late_variables_of_living(void);
void late_variables_apart(void);
void errors_of_libraries(void);

// --- cxx_cases.cpp
void uncaught(void);
void unwound(void);
void objects_of_threads(void);
void objects_of_destructors(void);

#ifdef __cplusplus
}
#endif
