// SPDX-License-Identifier: Apache-2.0
// Between `tulle run --hosts` and the hosts of its places: either side notices when the other one
// is not there any more (launcher_lease.hpp). What is started there finds this one by a variable of
// its environment.
#pragma once

#include "net/host_watch.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace tulle::tool {

class launcher_watch {
public:
    // Sets the variable. 0: nobody watches.
    explicit launcher_watch(std::chrono::seconds limit);
    launcher_watch(launcher_watch const&) = delete;
    launcher_watch& operator=(launcher_watch const&) = delete;
    ~launcher_watch();

    // When the launcher has been started.
    void begin();
    [[nodiscard]] std::chrono::seconds limit() const noexcept { return m_limit; }
    // A descriptor that becomes readable when a host is lost; -1: nobody watches.
    [[nodiscard]] int news() const noexcept { return m_news; }
    // The first one.
    [[nodiscard]] std::optional<std::string> lost_host() const;

private:
    void note(std::string const& host);

    std::chrono::seconds m_limit;
    int m_news = -1;
    mutable std::mutex m_lock;
    std::optional<std::string> m_lost;
    std::unique_ptr<net::host_watch> m_watch; // last: its thread uses the others
};

} // namespace tulle::tool
