// SPDX-License-Identifier: Apache-2.0
// What has no counterpart here, and logs, of which none is kept; docs/compat/myth.md says why.
#include "compat/myth/library.hpp"
#include "compat/myth/thread.hpp"

#include <tulle/this_thread.hpp>

using namespace tulle::myth;

namespace {
void refuse_call() noexcept { errno = ENOSYS; }
} // namespace

void myth_serialize(myth_thread_t /*th*/, myth_pickle_t* /*p*/) { refuse_call(); }
myth_thread_t myth_deserialize(myth_pickle_t* /*p*/) { return refuse<struct myth_thread>(ENOSYS); }
myth_thread_t myth_ext_deserialize(myth_pickle_t* /*p*/) {
    return refuse<struct myth_thread>(ENOSYS);
}
myth_thread_t myth_steal(void) { return refuse<struct myth_thread>(ENOSYS); }
void myth_import(myth_thread_t /*th*/) { refuse_call(); }
void myth_ext_import(myth_thread_t /*th*/) { refuse_call(); }
void myth_release_stack(myth_thread_t /*th*/) { refuse_call(); }
void myth_release_desc(myth_thread_t /*th*/) { refuse_call(); }

void myth_log_start(void) {}
void myth_log_pause(void) {}
void myth_log_flush(void) {}
void myth_log_reset(void) {}
void myth_log_annotate_thread(myth_thread_t th, char* name) {
    if (any_null(th, name) || th != running()) return;
    static_cast<void>(guarded([name] { tulle::this_thread::set_name(name); }));
}
void myth_sched_prof_start(void) {}
void myth_sched_prof_pause(void) {}
