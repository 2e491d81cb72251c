// SPDX-License-Identifier: Apache-2.0
// The option `check`: what goes to other places is searched for addresses of this one. A word that
// lies in private memory of this process is taken for one; a small integer is none, so nothing is
// found of a program that is linked to low addresses.
#include "base/sanitize.hpp"
#include "messenger/endpoint.hpp"
#include "os/mapped_range.hpp"

#include <tulle/wire.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

namespace tulle::messenger {

namespace {

constexpr std::uint64_t k_least_address = std::uint64_t{1} << 32U;
constexpr std::uint64_t k_end_of_addresses = std::uint64_t{1} << 57U;
// The most bytes of a mapping that is searched; larger ones are sanitizers' notes, into which
// nothing points. The thread sanitizer has smaller ones, too.
constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << (base::k_thread_sanitizer ? 32U : 38U);

struct stray_address {
    std::uint64_t value;
    std::size_t offset; // in what is sent
};

class address_search {
public:
    explicit address_search(address_test common) noexcept : m_common(common) {}

    // Bytes are packed when they are sent, so an address may begin at any of them.
    [[nodiscard]] std::optional<stray_address> find(wire_writer const& sent) {
        std::uint64_t word = 0;
        for (std::size_t at = 0; at + sizeof word <= sent.size(); ++at) {
            std::memcpy(&word, sent.data() + at, sizeof word);
            if (word >= k_least_address && word < k_end_of_addresses && is_of_this_process(word))
                return stray_address{word, at};
        }
        return {};
    }

private:
    [[nodiscard]] bool is_of_this_process(std::uint64_t address) {
        if (!m_mapped) m_mapped = os::private_mappings();
        for (auto const& range : *m_mapped)
            if (range.contains(address))
                return range.high - range.low < k_most_bytes && !is_common(address);
        return false;
    }
    [[nodiscard]] bool is_common(std::uint64_t address) noexcept {
        return m_common.holds != nullptr && m_common.holds(m_common.object, address);
    }

    address_test m_common;
    // It is read once there is an address to search for.
    std::optional<std::vector<os::address_range>> m_mapped;
};

// The caller's stack may lie beside other mappings, but for these there is no word of their own.
char const* kind_of(std::uint64_t address) noexcept {
    auto const here =
        os::mapping_around(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    return here.contains(address) ? "the stack of the calling thread"
                                  : "the heap, a stack or the program";
}

} // namespace

void endpoint::search(std::optional<rank> to, wire_writer const& sent) {
    auto const found = address_search(m_common_addresses).find(sent);
    if (!found) return;
    char text[32];
    std::snprintf(text, sizeof text, "0x%" PRIx64, found->value);
    throw std::invalid_argument(
        "tulle: what goes to " + (to ? "place " + std::to_string(*to) : std::string("any place")) +
        " holds at byte " + std::to_string(found->offset) + " the address " + text +
        ", which is in " + kind_of(found->value) + " of place " + std::to_string(here()) +
        " and means nothing elsewhere: send what it points to, a tulle::global_ref or a "
        "tulle::global_ptr");
}

} // namespace tulle::messenger
