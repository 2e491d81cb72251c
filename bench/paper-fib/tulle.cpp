// SPDX-License-Identifier: Apache-2.0
#include "paper_fib.hpp"

namespace tulle::bench {

benchmark const registered("paper-fib", "tulle", [](int argc, char** argv) {
    return paper_fib_main(argc, argv, "paper-fib", "tulle", {30, 20});
});

} // namespace tulle::bench
