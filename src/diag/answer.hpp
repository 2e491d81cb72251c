// SPDX-License-Identifier: Apache-2.0
// Answers SIGQUIT with a report (report_request.hpp). The handler makes a copy of the process
// (os/child_program.hpp) and goes on; the copy, in which nothing else runs, writes the report and
// ends. So the program is stopped for the time of the copy only, and whatever goes wrong with a
// report cannot hurt it.
#pragma once

namespace tulle::diag {

// Answers requests from now on. No effect when the program handles SIGQUIT itself; where it is
// ignored, as the shell has it for background jobs, only requests of `tulle ps` are answered. One
// thread at a time calls these two.
void answer_requests() noexcept;
void stop_answering() noexcept;
[[nodiscard]] bool answers_requests() noexcept;
// Called before: nothing is answered where SIGQUIT is ignored, as programs that this one starts are
// to ignore it, too.
void leave_ignored() noexcept;
// In a forked child: the request that was being answered is the parent's.
void forget_request() noexcept;

} // namespace tulle::diag
