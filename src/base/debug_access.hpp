// SPDX-License-Identifier: Apache-2.0
// A friend of the classes whose private members a debugger must find. Defined where the table of
// their offsets is made (sched/watch/debug_layout.cpp); nothing else uses it.
#pragma once

namespace tulle::base {

struct debug_access;

} // namespace tulle::base
