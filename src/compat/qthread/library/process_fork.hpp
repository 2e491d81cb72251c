// SPDX-License-Identifier: Apache-2.0
// fork(2) of a program that uses this library. In the child there is the calling thread alone: what
// others held or counted in the parent is forgotten, and all shepherds and workers are enabled when
// the child first forks a qthread.
#pragma once

namespace tulle::compat {

// Each part of the library that other threads change is asked in these: it takes its locks before
// the fork, and leaves them afterwards.
enum class fork_phase { before, in_parent, in_child };

// At every start of the library; throws std::bad_alloc.
void expect_process_forks();

} // namespace tulle::compat
