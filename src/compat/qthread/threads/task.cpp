// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/threads/task.hpp"

#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/library/result.hpp"

#include <qthread/sinc.h>

#include <tulle/detail/stack_attachments.hpp>
#include <tulle/runtime.hpp>
#include <tulle/thread.hpp>

#include <cstdlib>
#include <cstring>
#include <new>

namespace tulle::compat {

namespace {

// In the flags of a birth, above those of the interface.
// The argument is memory that the qthread frees: a copy in a native block or from malloc, or a
// birth_block.
constexpr unsigned k_has_small_copy = 1U << 29U;
constexpr unsigned k_has_large_copy = 1U << 30U;
constexpr unsigned k_has_block = 1U << 31U;
constexpr unsigned k_has_any = k_has_small_copy | k_has_large_copy | k_has_block;
// Local memory of at most so many bytes lies in the frame.
constexpr std::size_t k_most_local_in_frame = 128;

// What few births have. A copy of the argument lies behind it.
struct alignas(std::max_align_t) birth_block {
    void* argument = nullptr;
    aligned_t** preconditions = nullptr; // their number, and as many addresses
    membership team;
};

void wait_for_preconditions(aligned_t** list) noexcept {
    if (list == nullptr) return;
    auto const count = reinterpret_cast<std::uintptr_t>(list[0]);
    for (std::uintptr_t k = 1; k <= count; ++k) static_cast<void>(qthread_readFF(nullptr, list[k]));
    std::free(list);
}

aligned_t call_with_block(task& t, qthread_f function, birth_block& block) noexcept {
    t.team = block.team;
    wait_for_preconditions(block.preconditions);
    aligned_t const value = function(block.argument);
    if (t.team.of != nullptr) leave_team(t.team);
    return value;
}

// The result is not there from now on.
int empty_result(void* result, unsigned flags) noexcept {
    if (result == nullptr || (flags & (QTHREAD_SPAWN_RET_SINC | QTHREAD_SPAWN_RET_SINC_VOID)) != 0)
        return QTHREAD_SUCCESS;
    if ((flags & QTHREAD_SPAWN_RET_SYNCVAR_T) != 0)
        return qthread_syncvar_empty(static_cast<syncvar_t*>(result));
    return qthread_empty(static_cast<aligned_t*>(result));
}

// Null or a word for each.
bool are_words(aligned_t* const* preconditions) noexcept {
    if (preconditions == nullptr) return true;
    auto const count = reinterpret_cast<std::uintptr_t>(preconditions[0]);
    for (std::uintptr_t k = 1; k <= count; ++k)
        if (!is_object(preconditions[k])) return false;
    return true;
}

// A word, a syncvar and a sinc are aligned alike.
bool is_possible(fork_request const& wanted) noexcept {
    return wanted.function != nullptr && is_object_or_null(wanted.result) &&
           is_bytes(wanted.argument, wanted.copied) && are_words(wanted.preconditions);
}

bool needs_block(fork_request const& wanted, task const* parent) noexcept {
    constexpr unsigned k_of_teams = QTHREAD_SPAWN_NEW_TEAM | QTHREAD_SPAWN_NEW_SUBTEAM;
    return wanted.preconditions != nullptr || (wanted.flags & k_of_teams) != 0 ||
           (parent != nullptr && parent->team.of != nullptr);
}

int add_copy(birth& b, fork_request const& wanted) noexcept {
    bool const is_small = wanted.copied <= detail::k_block_size;
    void* const copy = is_small ? detail::allocate_block() : std::malloc(wanted.copied);
    if (copy == nullptr) return QTHREAD_MALLOC_ERROR;
    b.argument = std::memcpy(copy, wanted.argument, wanted.copied);
    b.flags |= is_small ? k_has_small_copy : k_has_large_copy;
    return QTHREAD_SUCCESS;
}

int add_block(birth& b, fork_request const& wanted, task const* parent) noexcept {
    auto* const memory = static_cast<std::byte*>(std::malloc(sizeof(birth_block) + wanted.copied));
    if (memory == nullptr) return QTHREAD_MALLOC_ERROR;
    auto* const block = ::new (static_cast<void*>(memory)) birth_block;
    block->argument = b.argument;
    block->preconditions = wanted.preconditions;
    if (wanted.copied != 0) {
        block->argument = memory + sizeof(birth_block);
        std::memcpy(block->argument, wanted.argument, wanted.copied);
    }
    b.argument = block;
    b.flags |= k_has_block;
    return enter_team(block->team, parent, wanted.flags);
}

void free_argument(birth const& b) noexcept {
    if ((b.flags & k_has_any) == 0) return;
    (b.flags & k_has_small_copy) != 0 ? detail::free_block(b.argument) : std::free(b.argument);
}

void discard(birth const& b) noexcept {
    if ((b.flags & k_has_block) != 0) abandon_team(static_cast<birth_block*>(b.argument)->team);
    free_argument(b);
}

int native_shepherd(qthread_shepherd_id_t wanted) noexcept {
    return wanted == NO_SHEPHERD ? -1 : static_cast<int>(wanted % the().shepherds);
}

// Whether its parent may run it where it reads the result, and yields to it.
bool is_for_parent(birth const& b, int shepherd, task const* parent) noexcept {
    return parent != nullptr && !parent->is_main && shepherd < 0 && (b.flags & k_has_block) == 0;
}

// The word that is filled at its end.
void const* word_of(birth const& b) noexcept {
    bool const is_word = (b.flags & (QTHREAD_SPAWN_RET_SINC | QTHREAD_SPAWN_RET_SINC_VOID)) == 0;
    return is_word ? b.result : nullptr;
}

int start(birth const& b, int shepherd, task* parent, void const* site) noexcept {
    attributes how;
    how.shepherd = shepherd;
    bool const for_parent = is_for_parent(b, shepherd, parent);
    the().live_tasks.begin();
    int const error = guarded([&] {
        detail::thread_core* const core = detail::make_thread(how, b, !for_parent);
        core->site = site;
        detail::start_thread(core, !for_parent, false);
        if (for_parent) parent->pending.add(word_of(b), core);
    });
    if (error != QTHREAD_SUCCESS) the().live_tasks.end();
    return error;
}

} // namespace

task* self() noexcept {
    return static_cast<task*>(detail::attachment(detail::attachment_of::qthread));
}
void set_self(task* t) noexcept { detail::set_attachment(detail::attachment_of::qthread, t); }

void birth::operator()() const noexcept {
    static_assert(detail::fits_inline<birth, detail::k_thread_body_size>);
    alignas(std::max_align_t) std::byte local[k_most_local_in_frame];
    void* outer = nullptr;
    aligned_t value = 0;
    {
        task t;
        t.result = result;
        t.flags = flags;
        t.local_size = static_cast<unsigned>(the().tasklocal_size);
        if (t.local_size <= sizeof local) t.local = std::memset(local, 0, t.local_size);
        outer = detail::exchange_attachment(detail::attachment_of::qthread, &t);
        value = (flags & k_has_block) == 0
                    ? function(argument)
                    : call_with_block(t, function, *static_cast<birth_block*>(argument));
        detail::set_attachment(detail::attachment_of::qthread, outer);
    }
    free_argument(*this);
    deliver(result, flags, value);
    the().live_tasks.end();
}

void deliver(void* result, unsigned flags, aligned_t value) noexcept {
    if (!is_object(result)) return;
    if ((flags & QTHREAD_SPAWN_RET_SINC_VOID) != 0)
        return qt_sinc_submit(static_cast<qt_sinc_t*>(result), nullptr);
    if ((flags & QTHREAD_SPAWN_RET_SINC) != 0)
        return qt_sinc_submit(static_cast<qt_sinc_t*>(result), &value);
    if ((flags & QTHREAD_SPAWN_RET_SYNCVAR_T) != 0)
        static_cast<void>(
            qthread_syncvar_writeEF_const(static_cast<syncvar_t*>(result), INT64TOINT60(value)));
    else
        static_cast<void>(qthread_writeEF_const(static_cast<aligned_t*>(result), value));
}

int fork(fork_request const& wanted, void const* site) noexcept {
    if (!is_possible(wanted)) return QTHREAD_BADARGS;
    if (!the().is_running()) return QTHREAD_NOT_ALLOWED;
    task* const parent = self();
    birth b{wanted.function, const_cast<void*>(wanted.argument), wanted.result,
            wanted.flags & ~k_has_any};
    int error = QTHREAD_SUCCESS;
    if (needs_block(wanted, parent))
        error = add_block(b, wanted, parent);
    else if (wanted.copied != 0)
        error = add_copy(b, wanted);
    if (error == QTHREAD_SUCCESS) error = empty_result(wanted.result, wanted.flags);
    if (error == QTHREAD_SUCCESS) error = start(b, native_shepherd(wanted.shepherd), parent, site);
    if (error != QTHREAD_SUCCESS) discard(b);
    return error;
}

} // namespace tulle::compat
