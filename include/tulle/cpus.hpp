// SPDX-License-Identifier: Apache-2.0
// The processors that this program has, when the programs of a user share those of the machine (the
// option share_cpus): each has its own, as long as there are enough, and one worker for each.
// `tulle cpus` shows which program has which. Contexts: any thread of the process whose stack is
// not a compact one;
// both start the run time if need be. Memory ordering: none.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <vector>

namespace tulle {

// How many processors a program wants.
struct cpu_wish {
    int least = 1;  // goes before the weights of others, but not before their first
    int most = 0;   // 0: as many as there may be workers
    int weight = 1; // against those of the others; from 1 to 1000
};

// What the program wants from now on; at the start it is one at least, as many as it has workers
// without sharing at most, and a weight of 1.
// set_worker_count(n) changes `most` to n; the number of workers follows. The processors are
// divided anew before the return, unless another program keeps the others from it: then soon.
// Workers follow as with set_worker_count.
// Errors, after which the wish is as it was: std::system_error: not 1 <= least <= most <=
// max_worker_count(), or the weight out of range (EINVAL); the program shares none, as the option
// is off or the file of the programs that share them is of no use (ENOTSUP); that file cannot be
// written (as of open(2) and write(2)). std::bad_alloc.
TULLE_API void want_cpus(cpu_wish const& wanted);

// The numbers of those that the program has, ascending; if it shares none, those of the affinity
// mask of the process's first thread. They may change at any time. Errors: std::bad_alloc.
[[nodiscard]] TULLE_API std::vector<int> own_cpus();

} // namespace tulle
