// SPDX-License-Identifier: Apache-2.0
#include "wait/timer_queue.hpp"

namespace tulle::wait {

template class basic_timer_queue<timer_machine>;

} // namespace tulle::wait
