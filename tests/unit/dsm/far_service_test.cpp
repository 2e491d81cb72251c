// SPDX-License-Identifier: Apache-2.0
// What a host does with a request of another machine, step by step.
#include "dsm/far_service.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace {

using namespace tulle;
using namespace tulle::dsm;

// Of one line. Whoever hears of a notice reads the master.
class memory {
public:
    struct log {
        void publish() noexcept {}
    };
    struct chunk_list {
        void add(line_range /*lines*/) noexcept {}
    };

    [[nodiscard]] std::byte* master_at(host_number /*home*/, line_number /*line*/) noexcept {
        return m_master.data();
    }
    void serve_notice(host_number /*from*/, far_notice const& /*told*/) noexcept {
        std::memcpy(&m_seen, m_master.data(), sizeof m_seen);
        ++m_notices;
    }
    [[nodiscard]] far_word seen() const noexcept { return m_seen; }
    [[nodiscard]] int notices() const noexcept { return m_notices; }

    // What no request of these tests asks for.
    void serve_fetch(host_number, line_range, std::byte*) noexcept {}
    void serve_put(line_range, std::byte const*) noexcept {}
    void serve_share() noexcept {}
    [[nodiscard]] line_range unit_of(line_number line) const noexcept { return {line, 1}; }
    [[nodiscard]] std::uint8_t claim_for(host_number, line_range) noexcept { return 0; }
    [[nodiscard]] std::uint64_t access_own(far_access const&) noexcept { return 0; }
    [[nodiscard]] log& notices_of(host_number) noexcept { return m_log; }
    [[nodiscard]] chunk_list& chunks() noexcept { return m_chunks; }

private:
    alignas(far_word) std::array<std::byte, TULLE_COHERENT_LINE> m_master{};
    far_word m_seen = 0;
    int m_notices = 0;
    log m_log;
    chunk_list m_chunks;
};

struct release_request {
    far_head head{far_operation::release, {1, 1}}; // one notice, one difference
    far_difference difference{7, 0, 1, {0xff}};
    far_word value = 0x0123'4567'89ab'cdef;
    far_notice notice{{7, 1}, 1};
};

// Hosts that read the notice go on and fetch, though the request is not done yet.
TEST(far_service, what_a_release_changes_is_there_before_the_notice) {
    memory m;
    release_request const asked;
    std::array<std::byte, 64> answer{};
    EXPECT_EQ(
        far_service<memory>(m).serve(1, reinterpret_cast<std::byte const*>(&asked), answer.data()),
        0U);
    EXPECT_EQ(m.notices(), 1);
    EXPECT_EQ(m.seen(), asked.value);
}

} // namespace
