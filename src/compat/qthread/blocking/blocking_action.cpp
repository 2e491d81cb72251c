// SPDX-License-Identifier: Apache-2.0
// Between the two calls a stand-in runs other qthreads, with the number of the worker that the
// qthread blocks. What runs there may have asked for the number when the action ends, and has it
// until its next wait; so then the qthread is one that is ready, like after a yield. It holds
// nothing that anybody else needs for that.
#include "base/kept_errno.hpp"
#include "compat/qthread/threads/task.hpp"

#include <qthread/io.h>

#include <tulle/detail/worker_numbers.hpp>

#include <utility>

using namespace tulle::compat;

// Where nobody can stand in, others wait until the action is over.
void qt_begin_blocking_action() {
    task* const me = self();
    if (me == nullptr || me->blocks) return;
    tulle::base::kept_errno const kept;
    me->blocks = true;
    me->lender = tulle::detail::lend_number();
}

void qt_end_blocking_action() {
    task* const me = self();
    if (me == nullptr || !me->blocks) return;
    tulle::base::kept_errno const kept; // the call's
    me->blocks = false;
    int const lender = std::exchange(me->lender, -1);
    if (lender >= 0) tulle::detail::take_number_back(lender);
}
