// SPDX-License-Identifier: Apache-2.0
#include "sched/timer_queue.hpp"

namespace tulle::sched {

template class basic_timer_queue<timer_machine>;

} // namespace tulle::sched
