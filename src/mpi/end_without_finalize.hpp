// SPDX-License-Identifier: Apache-2.0
// MPI_Finalize of MPICH 4.0 over UCX hangs now and then when there are several hosts, in the
// simplest program: a process that has closed all its connections waits in the launcher's barrier
// for the others, which wait for its answers. So there the launcher is told that this process ends
// well, in the words of its protocol (PMI-1), and MPI ends with the process.
#pragma once

#include <cstdlib>
#include <string_view>

#include <mpi.h>

#include <unistd.h>

namespace tulle::mpi {

// Every process of MPI_COMM_WORLD calls it, after a barrier of all of them, and calls MPI no more.
// False: it has to call MPI_Finalize, as the MPI is another one, or the launcher speaks another
// protocol.
[[nodiscard]] inline bool end_without_finalize() noexcept {
#if defined(MPICH_VERSION)
    constexpr std::string_view k_words = "cmd=finalize\n";
    char const* const number = ::secure_getenv("PMI_FD"); // NOLINT(concurrency-mt-unsafe)
    if (number == nullptr) return false;
    int const launcher = std::atoi(number);
    if (write(launcher, k_words.data(), k_words.size()) != static_cast<ssize_t>(k_words.size()))
        return false;
    for (char answer = 0; answer != '\n';)
        if (read(launcher, &answer, 1) != 1) break;
    return true;
#else
    return false;
#endif
}

} // namespace tulle::mpi
