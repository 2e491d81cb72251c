// SPDX-License-Identifier: Apache-2.0
// With as many shepherds as workers, of one worker each.
#include "../common/libraries/tulle.hpp"
#include "shepherds.hpp"

#include <string>

#include <tulle/address_lock.hpp>
#include <tulle/mutex.hpp>
#include <tulle/spin_lock.hpp>

namespace tulle::bench {
namespace {

// Nothing is kept for a lock by address.
class tulle_addresses {
public:
    explicit tulle_addresses(std::size_t count) : m_bytes(count) {}
    [[nodiscard]] address_lock operator[](std::size_t k) const { return address_lock(&m_bytes[k]); }

private:
    std::vector<char> m_bytes;
};

class tulle_counter {
public:
    void increment() noexcept { m_value.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] long value() const noexcept { return m_value.load(std::memory_order_relaxed); }

private:
    std::atomic<long> m_value{0};
};

struct tulle_paper_threads {
    using group = tulle_thread_runtime::group;
    using mutex = tulle::mutex;
    using spin_lock = tulle::spin_lock;
    using counter = tulle_counter;
    using addresses = tulle_addresses;
};

int run(int argc, char** argv) {
    settings const s = shepherds_settings(argc, argv);
    tulle::set_option("shepherds", std::to_string(s.workers));
    tulle_runtime library(s.workers);
    return shepherds_main<tulle_paper_threads>("tulle", s, library);
}

} // namespace

benchmark const registered("shepherds", "tulle", run);

} // namespace tulle::bench
