// SPDX-License-Identifier: Apache-2.0
// The one object that knows the options and the life of the run time.
#pragma once

#include "base/option.hpp"
#include "sched/scheduler.hpp"

#include <mutex>
#include <string>
#include <string_view>

namespace tulle::runtime {

class instance {
public:
    instance();

    // 0 or a positive errno.
    [[nodiscard]] int start(bool adopt_caller);
    [[nodiscard]] int start_with(std::uint64_t workers, std::uint64_t stack_size); // 0: as the options say
    [[nodiscard]] int stop();
    [[nodiscard]] std::string describe_live_threads();
    void before_process_fork() noexcept;
    void after_process_fork(bool in_child) noexcept;
    [[nodiscard]] base::option_error set_option(std::string_view name, std::string_view value);
    [[nodiscard]] base::option_table const& options() const noexcept { return m_options; }
    [[nodiscard]] sched::settings settings_now(bool adopt_caller) const;

private:
    std::mutex m_lock;
    base::option_table m_options;
};

[[nodiscard]] instance& the();

} // namespace tulle::runtime
