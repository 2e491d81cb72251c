// SPDX-License-Identifier: Apache-2.0
// A descriptor that is readable when a process has ended, for one wait. The reactor may know
// another file by its number, from before and afterwards.
#pragma once

#include "base/kept_errno.hpp"
#include "io/reactor.hpp"
#include "os/private_descriptor.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace tulle::io {

class end_of_process {
public:
    explicit end_of_process(pid_t process) noexcept : m_file(opened(process)) {
        if (m_file.is_open()) reactor::instance().expect_new(m_file.number());
    }
    end_of_process(end_of_process const&) = delete;
    end_of_process& operator=(end_of_process const&) = delete;
    ~end_of_process() {
        if (!m_file.is_open()) return;
        base::kept_errno const kept;
        static_cast<void>(reactor::instance().replace(
            m_file.number(),
            [](void* file) noexcept {
                static_cast<os::private_descriptor*>(file)->close();
                return 0;
            },
            &m_file));
    }
    // Negative: the system has none.
    [[nodiscard]] int number() const noexcept { return m_file.number(); }

private:
    [[nodiscard]] static os::private_descriptor opened(pid_t process) noexcept {
#ifdef SYS_pidfd_open
        base::kept_errno const kept;
        if (process > 0)
            return os::private_descriptor(
                [=] { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); });
#else
        static_cast<void>(process);
#endif
        return {};
    }

    os::private_descriptor m_file;
};

} // namespace tulle::io
