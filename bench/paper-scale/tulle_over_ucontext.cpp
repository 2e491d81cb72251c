// SPDX-License-Identifier: Apache-2.0
#include "../paper-fib/paper_fib.hpp"

namespace tulle::bench {

benchmark const registered("paper-scale", "tulle_over_ucontext", [](int argc, char** argv) {
    return paper_fib_main(argc, argv, "paper-scale", "tulle_over_ucontext", {33, 23});
});

} // namespace tulle::bench
