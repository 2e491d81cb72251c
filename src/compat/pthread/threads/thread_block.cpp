// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/threads/thread_block.hpp"

#include "arch/thread_pointer.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/signals/notes.hpp"
#include "compat/pthread/threads/first_values.hpp"
#include "compat/pthread/threads/living.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <atomic>
#include <clocale>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include <link.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <unistd.h>

namespace tulle::posix {

std::uintptr_t thread_blocks::s_first = 0;
std::uintptr_t thread_blocks::s_bytes = 0;
std::size_t thread_blocks::s_behind = 0;
std::size_t thread_blocks::s_descriptor = 0;
std::size_t thread_blocks::s_tid = 0;

namespace {

constexpr std::size_t k_most_threads = 1U << 17U;
// The head of struct pthread where it is at the thread pointer, which the compiler's and the
// linker's ABI fixes there: its own address twice, and whether there are several threads. Elsewhere
// that word is the first.
constexpr std::size_t k_tcb = 0, k_self = 16, k_several = 24;
constexpr std::size_t k_several_elsewhere = 0;
// Values of keys: 32 pointers to blocks of 32 pairs, behind the first of these blocks.
constexpr std::size_t k_key_blocks = 32, k_key_block_bytes = 512;
constexpr auto k_cpu_unknown = static_cast<std::uint32_t>(RSEQ_CPU_ID_REGISTRATION_FAILED);
// Numbers of threads are above those of the kernel. Processes have numbers of their own, as locks
// that they share note them: consecutive ones begin far from each other.
constexpr std::uint32_t k_first_tid = 0x20000000, k_tids = 0x20000000;

// What is known of this C library.
struct layout {
    void* (*allocate)(void*) = nullptr;
    void* (*initialize)(void*, bool) = nullptr; // what has been allocated; with its first values
    void (*deallocate)(void*, bool) = nullptr;
    void (*init_ctype)() = nullptr;
    std::size_t alignment = 64; // of thread pointers, and what lies around them
    std::size_t below = 0;      // bytes of a block before the thread pointer
    std::size_t pthread = 0;    // bytes of struct pthread
    std::size_t from_here = 0;  // bytes from it to the thread pointer
    std::size_t behind = 0;     // where the thread lies, from the thread pointer
    std::size_t stride = 0;     // bytes of a block
    std::size_t links = 0;      // where those of the C library's list of threads lie, in it
    std::size_t keys = 0;       // where the pointers to values of keys lie, in it
    std::size_t vector = 0;     // where the pointer to vector_entry[1] lies, in it; 0: not known
    std::size_t cpu = 0;        // where the kernel would write the processor, in it; 0: nowhere
    std::ptrdiff_t own = 0;     // the C library's own variables, from the thread pointer
    std::size_t own_bytes = 0;  // their number
};

layout s_layout;
base::spin_lock s_lock;
thread* s_free = nullptr;
std::size_t s_made = 0;
std::uint32_t s_next_tid = 0;

// No other thread makes one.
void number_anew() noexcept {
    constexpr std::uint32_t k_golden = 0x9e3779b1;
    s_next_tid = static_cast<std::uint32_t>(getpid()) * k_golden >> 3U;
}

// With the lock held.
std::int32_t next_tid() noexcept {
    return static_cast<std::int32_t>(k_first_tid + s_next_tid++ % k_tids);
}

std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + s_layout.alignment - 1) / s_layout.alignment * s_layout.alignment;
}

// Entries of the tables that the C library has for debuggers: {bits, count, offset}.
std::size_t offset_of(char const* entry) noexcept {
    auto const* const found = static_cast<std::uint32_t const*>(find_symbol(entry));
    return found == nullptr ? 0 : found[2];
}

template <class F> bool find(F& function, char const* name) noexcept {
    function = reinterpret_cast<F>(find_symbol(name));
    return function != nullptr;
}

template <class T> T& word_at(std::byte* block, std::size_t offset) noexcept {
    return *reinterpret_cast<T*>(block + offset);
}

std::byte* descriptor_of(void* thread_pointer) noexcept {
    return static_cast<std::byte*>(thread_pointer) - s_layout.from_here;
}

// The vector is known if it says of the caller where a library's variables are.
int find_vector(dl_phdr_info* library, std::size_t, void* offset) noexcept {
    if (library->dlpi_tls_data == nullptr) return 0;
    auto const* const vector = word_at<vector_entry const*>(descriptor_of(arch::thread_pointer()),
                                                            *static_cast<std::size_t*>(offset));
    if (vector[library->dlpi_tls_modid].at == library->dlpi_tls_data)
        s_layout.vector = *static_cast<std::size_t*>(offset);
    return 1;
}

int find_own_variables(dl_phdr_info* library, std::size_t, void*) noexcept {
    if (std::strstr(library->dlpi_name, "libc.so.6") == nullptr) return 0;
    for (int k = 0; k != library->dlpi_phnum; ++k) {
        if (library->dlpi_phdr[k].p_type != PT_TLS) continue;
        s_layout.own_bytes = library->dlpi_phdr[k].p_memsz;
        s_layout.own = static_cast<std::byte*>(library->dlpi_tls_data) -
                       static_cast<std::byte*>(arch::thread_pointer());
    }
    return 1;
}

// The word in which the kernel writes the number of the processor, if it does (rseq(2)). On
// processors for which the C library does not ask for that each thread has noted so, in the last
// part of its struct pthread.
std::size_t find_cpu_word() noexcept {
    constexpr std::size_t k_part = 32, k_parts = 4, k_at = offsetof(struct rseq, cpu_id);
    if (__rseq_offset != 0)
        return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(s_layout.from_here) +
                                        arch::k_thread_pointer_bias + __rseq_offset) +
               k_at;
    std::byte* const own = descriptor_of(arch::thread_pointer());
    for (std::size_t n = 1; n != k_parts + 1; ++n) {
        std::size_t const at = s_layout.pthread / k_part * k_part - n * k_part + k_at;
        if (word_at<std::uint32_t>(own, at) == k_cpu_unknown) return at;
    }
    return 0;
}

// Of the two variants of the ABI (Drepper, "ELF handling for thread-local storage", 2013) one has
// struct pthread before the thread pointer and the variables of threads behind it; the other has it
// at the thread pointer and the variables before it, and counts it among these.
bool lay_out(std::size_t variables) noexcept {
    bool const is_at_pointer = s_layout.from_here == 0;
    if (is_at_pointer && variables < s_layout.pthread) return false;
    s_layout.below = rounded(is_at_pointer ? variables - s_layout.pthread : s_layout.from_here);
    s_layout.behind = rounded(is_at_pointer ? s_layout.pthread : variables);
    s_layout.stride = s_layout.below + s_layout.behind + rounded(sizeof(thread));
    s_layout.cpu = find_cpu_word();
    return true;
}

bool find_functions() noexcept {
    void (*sizes)(std::size_t*, std::size_t*) = nullptr;
    bool const found = find(s_layout.allocate, "_dl_allocate_tls") &&
                       find(s_layout.deallocate, "_dl_deallocate_tls") &&
                       find(s_layout.init_ctype, "__ctype_init") &&
                       find(sizes, "_dl_get_tls_static_info");
    auto const* const bytes =
        static_cast<std::uint32_t const*>(find_symbol("_thread_db_sizeof_pthread"));
    s_layout.keys = offset_of("_thread_db_pthread_specific");
    s_layout.links = offset_of("_thread_db_pthread_list");
    if (!found || bytes == nullptr || s_layout.links == 0 || s_layout.keys <= k_key_block_bytes)
        return false;
    s_layout.from_here = static_cast<std::size_t>(static_cast<std::byte*>(arch::thread_pointer()) -
                                                  reinterpret_cast<std::byte*>(pthread_self()));
    std::size_t vector = offset_of("_thread_db_pthread_dtvp");
    if (vector != 0 && find(s_layout.initialize, "_dl_allocate_tls_init"))
        dl_iterate_phdr(&find_vector, &vector);
    std::size_t variables = 0, alignment = 0;
    sizes(&variables, &alignment);
    s_layout.pthread = *bytes;
    s_layout.alignment = std::max(s_layout.alignment, alignment);
    return lay_out(variables);
}

void fill_in_head(std::byte* own) noexcept {
    if (s_layout.from_here != 0) {
        word_at<int>(own, k_several_elsewhere) = 1;
    } else {
        word_at<void*>(own, k_tcb) = word_at<void*>(own, k_self) = own;
        word_at<int>(own, k_several) = 1;
    }
    std::byte* const block = own + s_layout.from_here;
    auto const* const native = static_cast<std::byte const*>(arch::thread_pointer());
    for (arch::inherited_bytes const& i : arch::k_inherited)
        std::memcpy(block + i.at, native + i.at, i.bytes);
}

void fill_in(std::byte* block, std::int32_t tid) noexcept {
    std::byte* const own = descriptor_of(block);
    fill_in_head(own);
    word_at<std::int32_t>(own, thread_blocks::tid_offset()) = tid;
    // In a list of its own: fork takes the caller out of its list in the child.
    word_at<void*>(own, s_layout.links) = word_at<void*>(own, s_layout.links + sizeof(void*)) =
        own + s_layout.links;
    word_at<void*>(own, s_layout.keys) = own + s_layout.keys - k_key_block_bytes;
    // The kernel writes the number of the processor to the OS thread's own, so this one is not
    // registered, and the C library asks the kernel.
    if (s_layout.cpu != 0) word_at<std::uint32_t>(own, s_layout.cpu) = k_cpu_unknown;
}

// Blocks for values of keys stay with struct pthread, without values.
void clear(std::byte* own) noexcept {
    constexpr std::size_t k_pointer_bytes = k_key_blocks * sizeof(void*);
    std::size_t const behind_keys = s_layout.keys + k_pointer_bytes;
    std::memset(own, 0, s_layout.keys);
    std::memset(own + behind_keys, 0, s_layout.pthread - behind_keys);
    auto* const key_blocks = &word_at<void*>(own, s_layout.keys);
    std::uintptr_t any = 0; // mostly there is none
    for (std::size_t k = 1; k != k_key_blocks; ++k)
        any |= reinterpret_cast<std::uintptr_t>(key_blocks[k]);
    if (TULLE_LIKELY(any == 0)) return;
    for (std::size_t k = 1; k != k_key_blocks; ++k) {
        if (key_blocks[k] != nullptr) std::memset(key_blocks[k], 0, k_key_block_bytes);
    }
}

// Null: it is not known where it is.
vector_entry* vector_of(std::byte* own) noexcept {
    return s_layout.vector == 0 ? nullptr : word_at<vector_entry*>(own, s_layout.vector);
}

// All variables are in the block.
bool has_no_late(vector_entry const* vector) noexcept {
    auto const entries = reinterpret_cast<std::size_t>(vector[-1].at);
    return std::none_of(vector + 1, vector + 1 + entries,
                        [](vector_entry const& e) { return e.made_late != nullptr; });
}

void clear_but_vector(std::byte* own, vector_entry* vector) noexcept {
    clear(own);
    word_at<vector_entry*>(own, s_layout.vector) = vector;
}

// As the C library does for a stack that it uses again.
void initialize_again(std::byte* block, vector_entry* vector) noexcept {
    clear_but_vector(descriptor_of(block), vector);
    auto const entries = reinterpret_cast<std::size_t>(vector[-1].at);
    std::memset(vector, 0, (1 + entries) * sizeof *vector);
    s_layout.initialize(block, true);
    first_values::learn(block, vector_of(descriptor_of(block))); // it may have got another one
}

// By the dynamic linker: all variables have their first values again. False: there is no memory.
bool renew_all(std::byte* block) noexcept {
    std::byte* const own = descriptor_of(block);
    vector_entry* const vector = vector_of(own);
    if (vector != nullptr && has_no_late(vector)) return initialize_again(block, vector), true;
    s_layout.deallocate(block, false);
    clear(own);
    return s_layout.allocate(block) != nullptr;
}

bool renew_by_linker(std::byte* block, bool keeps) noexcept {
    constexpr std::size_t k_most_own = 1024;
    std::byte kept[k_most_own];
    keeps = keeps && s_layout.own_bytes <= k_most_own;
    if (keeps) std::memcpy(kept, block + s_layout.own, s_layout.own_bytes);
    if (!renew_all(block)) return false;
    if (keeps) std::memcpy(block + s_layout.own, kept, s_layout.own_bytes);
    return true;
}

// The C library's own variables, with the cache of malloc, outlive a thread, but not one that a
// fork has left behind: it may have been in the midst of changing them, and what it has noted in
// them to be done at its end is not to be done here.
bool renew(std::byte* block, bool ended) noexcept {
    std::byte* const own = descriptor_of(block);
    vector_entry* const vector = vector_of(own);
    bool const is_known = ended && vector != nullptr && first_values::give(block, vector);
    if (!is_known) return renew_by_linker(block, ended);
    clear_but_vector(own, vector);
    return true;
}

} // namespace

char const* thread_blocks::prepare() noexcept {
    if (!arch::may_set_thread_pointer())
        return "this processor or kernel does not let programs set the thread pointer";
    std::size_t const tid = offset_of("_thread_db_pthread_tid");
    if (tid == 0 || !find_functions()) return "this C library does not tell how its threads look";
    s_descriptor = s_layout.from_here;
    s_behind = s_layout.behind;
    s_tid = tid;
    dl_iterate_phdr(&find_own_variables, nullptr);
    first_values::prepare({s_layout.below, s_layout.behind, s_layout.own, s_layout.own_bytes});
    first_values::keep_later_ones_apart(vector_of(descriptor_of(arch::thread_pointer())));
    number_anew();
    std::size_t const bytes = k_most_threads * s_layout.stride + s_layout.alignment;
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return "there is no address space for the threads' variables";
    s_first = rounded(reinterpret_cast<std::uintptr_t>(memory)) + s_layout.below;
    s_bytes = (k_most_threads - 1) * s_layout.stride + 1;
    return nullptr;
}

std::byte* thread_blocks::block_at(std::size_t number) noexcept {
    return reinterpret_cast<std::byte*>(s_first + number * s_layout.stride);
}

thread* thread_blocks::take() noexcept {
    thread* t = nullptr;
    std::byte* block = nullptr;
    std::int32_t tid = 0;
    bool had_variables = false, ended = true;
    {
        std::lock_guard const held(s_lock);
        tid = next_tid();
        if (s_free != nullptr) {
            t = s_free;
            s_free = t->next_free;
            t->is_free = false;
            // Until they are as new, a forked child must not have them.
            had_variables = std::exchange(t->has_variables, false);
        } else if (s_made != k_most_threads) {
            block = block_at(s_made++);
        } else {
            return nullptr;
        }
        living::add_one();
    }
    if (t != nullptr) {
        block = static_cast<std::byte*>(t->block);
        ended = !t->is_left_behind;
        if (ended) t->~thread(); // else it may be part of what has been left behind, too
    }
    bool const has_variables =
        had_variables ? renew(block, ended) : s_layout.allocate(block) != nullptr;
    t = ::new (block + s_layout.behind) thread(block);
    t->has_variables = has_variables;
    fill_in(block, tid);
    if (!has_variables) {
        close(*t);
        give(*t);
        return nullptr;
    }
    t->is_open.store(true, std::memory_order_release); // pairs with find
    return t;
}

// With the lock held.
void thread_blocks::put_into_list(thread& t) noexcept {
    t.is_free = true;
    t.next_free = s_free;
    s_free = &t;
}

void thread_blocks::give(thread& t) noexcept {
    t.is_used.store(false, std::memory_order_relaxed); // relaxed: who asks for it races anyway
    signal_notes::drop_all(t);
    std::lock_guard const held(s_lock);
    put_into_list(t);
}

// relaxed: under the lock.
void thread_blocks::close(thread& t) noexcept {
    bool is_last = false;
    {
        std::lock_guard const held(s_lock);
        t.is_open.store(false, std::memory_order_relaxed);
        is_last = living::remove_one();
    }
    if (is_last) living::tell_of_last();
}

base::spin_lock& thread_blocks::lock_of_all() noexcept { return s_lock; }

// relaxed, both: there is one thread. Whoever held the lock left the lists whole at each moment.
// As the C library does with its stacks, the blocks of threads that are not there are used again.
// The run time's stacks are not: whoever waits is linked into what it waits for, on its stack.
void thread_blocks::forget_others(thread const* left) noexcept {
    first_values::forget();
    number_anew();
    for (std::size_t k = 0; k != s_made; ++k) {
        auto& t = *reinterpret_cast<thread*>(block_at(k) + s_layout.behind);
        if (&t == left || t.block == nullptr) continue;
        t.is_open.store(false, std::memory_order_relaxed);
        t.is_used.store(false, std::memory_order_relaxed);
        if (t.is_free || !t.has_variables) continue;
        t.is_left_behind = true;
        t.is_to_be_joined = (t.life.load(std::memory_order_relaxed) & k_detached) == 0;
        put_into_list(t);
    }
}

// With the lock held. acquire: pairs with take. It is closed with the lock held.
template <class Is> thread* thread_blocks::first_that(Is is_it) noexcept {
    for (std::size_t k = 0; k != s_made; ++k) {
        auto& t = *reinterpret_cast<thread*>(block_at(k) + s_layout.behind);
        bool const is_there = t.block != nullptr && t.is_open.load(std::memory_order_acquire);
        if (is_there && is_it(t)) return &t;
    }
    return nullptr;
}

thread* thread_blocks::find(bool (*is_it)(thread&, signal_set), signal_set set) noexcept {
    std::lock_guard const held(s_lock);
    return first_that([=](thread& t) { return is_it(t, set); });
}

namespace {

bool lock_soon() noexcept {
    if (s_lock.try_lock()) return true;
    constexpr std::uint64_t k_patience_ns = 100'000'000;
    std::uint64_t const last_ns = os::monotonic_ns() + k_patience_ns;
    while (os::monotonic_ns() < last_ns) {
        if (s_lock.try_lock()) return true;
        TULLE_LIBC(sched_yield)();
    }
    return false;
}

} // namespace

bool thread_blocks::look_soon(bool (*is_enough)(thread&, void*), void (*at_end)(void*),
                              void* argument) noexcept {
    if (!lock_soon()) return false;
    std::lock_guard const held(s_lock, std::adopt_lock);
    static_cast<void>(first_that([=](thread& t) { return is_enough(t, argument); }));
    at_end(argument);
    return true;
}

void zero(void* memory, std::size_t bytes) noexcept { std::memset(memory, 0, bytes); }

void begin_variables() noexcept { s_layout.init_ctype(); }

} // namespace tulle::posix
