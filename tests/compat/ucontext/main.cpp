// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

#include <cstring>

#include <dlfcn.h>

namespace cases {
namespace {

named_case* s_first = nullptr;

/// Whose swapcontext this program calls.
void print_library() {
    Dl_info about{};
    if (dladdr(dlsym(RTLD_DEFAULT, "swapcontext"), &about) != 0) std::puts(about.dli_fname);
}

} // namespace

named_case::named_case(char const* case_name, void (*to_run)())
    : name(case_name), run(to_run), next(s_first) {
    s_first = this;
}

static named_case const s_library("library", &print_library);

} // namespace cases

/// NAME runs that case; without it the names are printed.
int main(int argc, char** argv) {
    for (cases::named_case const* k = cases::s_first; k != nullptr; k = k->next) {
        if (argc < 2) {
            std::puts(k->name);
        } else if (std::strcmp(k->name, argv[1]) == 0) {
            k->run();
            return 0;
        }
    }
    return argc < 2 ? 0 : 2;
}
