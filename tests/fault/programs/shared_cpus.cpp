// SPDX-License-Identifier: Apache-2.0
//
// A program that shares the processors, in a file of its own, and changes what it wants while
// threads run.
#include "inject.hpp"
#include "temporary_path.hpp"

#include <tulle/tulle.hpp>

#include <cstdlib>

namespace {

void compute() {
    auto child = tulle::fork([]() noexcept { return 1; });
    int second = 1;
    fault::attempt([&] { second = tulle::spawn([] { return 1; }).join(); });
    fault::require(child.join() + second == 2, "a thread is lost");
}

// Where it does not share, as the start warned of.
template <class Call> void wish(Call call) {
    fault::attempt(call, fault::allows::bad_alloc_too);
    compute();
}

void body() {
    temporary_path const file;
    setenv("TULLE_CPUS_FILE", file.get().c_str(), 1);
    tulle::set_option("share_cpus", "1");
    {
        fault::run_time const running(2);
        compute();
        wish([] { tulle::want_cpus({.most = 1, .weight = 3}); });
        wish([] { tulle::set_worker_count(0); });
        wish([] { fault::require(!tulle::own_cpus().empty(), "it has no processor"); });
    }
    fault::disarm();
}

} // namespace

int main() { return fault::run(&body); }
