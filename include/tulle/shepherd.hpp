// SPDX-License-Identifier: Apache-2.0
// Where threads run: how far shepherds are from each other, which is near to data, moving there,
// and taking shepherds and workers out of use for a while. Contexts: any thread of the process; all
// start the run time if need be. Numbers of shepherds are from 0 to shepherd_count() - 1; another
// number throws std::system_error (EINVAL).
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/thread.hpp>

#include <vector>

namespace tulle {

// 0: the same. Otherwise as the firmware tells of their NUMA nodes: 10 in the same node, more for
// others.
[[nodiscard]] TULLE_API int shepherd_distance(int from, int to);
// All others, the nearest first; of those that are equally far, first the one that shares the
// last-level cache, then the next ones by number.
[[nodiscard]] TULLE_API std::vector<int> nearest_shepherds(int from);

// The NUMA node of its workers. -1: the system does not tell.
[[nodiscard]] TULLE_API int node_of_shepherd(int index);

// A shepherd on the NUMA node of the page that the address lies on: the caller's own if that is
// one. -1: the system does not tell, or no worker runs on that node. A page that nobody has touched
// yet gets its memory now.
[[nodiscard]] TULLE_API int shepherd_of(void const* address);
// To spawn a thread near to data: spawn(near(data), f). Anywhere if it is not known where they are.
[[nodiscard]] inline attributes near(void const* data) {
    attributes how;
    how.shepherd = shepherd_of(data);
    return how;
}

// A worker that is disabled finishes what it runs until that waits, ends, or yields a while, hands
// over what else it has, and sleeps until it is enabled again; so do all workers of a shepherd that
// is disabled. Threads that are placed at a shepherd without workers run anywhere until it has one
// again.
// Worker 0 and its shepherd are always there. Disabling twice is once. Return at once.
// Workers are numbered as by this_thread::worker_index(); only those that have been wanted before
// (set_worker_count) are known.
// Memory ordering: none.
// Errors: std::system_error: there is none of that number (EINVAL), worker 0 or its shepherd
// (EPERM), the run time is ending (EBUSY); to enable: no OS thread can be made (EAGAIN, ENOMEM).
TULLE_API void disable_worker(int index);
TULLE_API void enable_worker(int index);
TULLE_API void disable_shepherd(int index);
TULLE_API void enable_shepherd(int index);
// Whether it has a worker that may run threads.
[[nodiscard]] TULLE_API bool is_enabled_shepherd(int index);

namespace this_thread {

// From now on the caller runs on workers of this shepherd only, and does so at the return, unless
// the shepherd is disabled; -1: anywhere.
// A thread that runs as a function call (forked and not stolen, or spawned and run by its joiner)
// takes the caller with it; on the stack of the OS thread that initialised that is an error. A
// thread that is placed at another shepherd than its joiner's is not run by that.
// Errors: std::system_error: no such shepherd (EINVAL); the caller is an OS thread, or runs on the
// one that initialised the run time (EPERM).
TULLE_API void migrate_to(int shepherd);

} // namespace this_thread

namespace detail {

// The caller runs on workers of a shepherd while this exists, and afterwards where it was placed
// before. Where migrate_to() would be EPERM it does not begin.
class shepherd_visit {
public:
    TULLE_API explicit shepherd_visit(int shepherd); // std::system_error: EINVAL
    shepherd_visit(shepherd_visit const&) = delete;
    shepherd_visit& operator=(shepherd_visit const&) = delete;
    TULLE_API ~shepherd_visit();
    [[nodiscard]] bool has_begun() const noexcept { return m_has_begun; }

private:
    int m_before;
    bool m_has_begun;
};

} // namespace detail
} // namespace tulle
