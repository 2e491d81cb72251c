// SPDX-License-Identifier: Apache-2.0
#include "static_locals.hpp"

#include <utility>

#include "accesses.hpp"

namespace tulle::compiler {

using namespace llvm;

void guard_static_locals(Module& module) {
    if (!are_globals_shared()) return;
    for (auto const& [of_library, of_run_time] :
         {std::pair("__cxa_guard_acquire", "tulle_coherent_guard_acquire"),
          std::pair("__cxa_guard_release", "tulle_coherent_guard_release"),
          std::pair("__cxa_guard_abort", "tulle_coherent_guard_abort")})
        if (Function* const f = module.getFunction(of_library); f != nullptr && f->isDeclaration())
            f->setName(of_run_time);
}

} // namespace tulle::compiler
