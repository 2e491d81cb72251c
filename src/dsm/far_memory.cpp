// SPDX-License-Identifier: Apache-2.0
#include "dsm/far_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tulle::dsm {

namespace {

using word = far_word;

// Read once, as it may be written meanwhile. relaxed: of such a word each byte is used by those who
// may.
word word_at(std::byte const* from) noexcept {
    auto& place = *reinterpret_cast<word*>(const_cast<std::byte*>(from));
    return std::atomic_ref<word>(place).load(std::memory_order_relaxed);
}

// A bit for each byte that is not 0.
std::uint8_t bytes_in(word differs) noexcept {
    unsigned marks = 0;
    for (unsigned k = 0; k < sizeof(word); ++k)
        marks |= (differs >> 8U * k & 0xFFU) != 0 ? 1U << k : 0U;
    return static_cast<std::uint8_t>(marks);
}

} // namespace

far_memory::far_memory(geometry const& chosen, host_map const& hosts)
    : m_chosen(chosen), m_hosts(hosts), m_carrier(hosts.carrier), m_differences(chosen.hosts) {
    std::size_t const most = m_carrier->most_bytes() / sizeof(word) * sizeof(word);
    m_notices.bytes.resize(most);
    m_other.bytes.resize(most);
    for (host_number h = 0; h < chosen.hosts; ++h)
        if (std::find(hosts.near.begin(), hosts.near.end(), h) == hosts.near.end())
            m_differences[h].bytes.resize(most);
}

void far_memory::begin(draft& d, far_operation what) noexcept {
    if (d.used != 0) return;
    head_of(d) = {what, {}};
    d.used = sizeof(far_head);
}
void far_memory::append(draft& d, void const* from, std::size_t bytes) noexcept {
    std::memcpy(d.bytes.data() + d.used, from, bytes);
    d.used += bytes;
}
void far_memory::ask(host_number to, far_head const& head) noexcept {
    m_carrier->ask(to, reinterpret_cast<std::byte const*>(&head), sizeof head, nullptr, 0);
}
void far_memory::send(host_number to, draft& d) noexcept {
    m_carrier->ask(to, d.bytes.data(), d.used, nullptr, 0);
}

// --- asks one host -------------------------------------------------------------------------------

void far_memory::fetch(host_number home, line_range lines, std::byte* to) noexcept {
    begin_fetch(home, lines, to);
    end_fetches();
}

void far_memory::begin_fetch(host_number home, line_range lines, std::byte* to) noexcept {
    begin_fetch_by(*m_carrier, home, lines, to);
}

void far_memory::end_fetches() noexcept { m_carrier->wait(); }

void far_memory::fetch_meanwhile(host_number home, line_range lines, std::byte* to,
                                 std::atomic<std::uint32_t>& answers_to_come) const noexcept {
    struct wanted {
        far_memory const& by;
        host_number home;
        line_range lines;
        std::byte* to;
    } all{*this, home, lines, to};
    m_carrier->ask_beside(
        [](far_hosts& others, void* argument) noexcept {
            auto const& w = *static_cast<wanted*>(argument);
            w.by.begin_fetch_by(others, w.home, w.lines, w.to);
            others.wait();
        },
        &all, answers_to_come);
}

void far_memory::begin_fetch_by(far_hosts& carrier, host_number home, line_range lines,
                                std::byte* to) const noexcept {
    std::uint64_t const most = lines_of_answer();
    for (std::uint64_t done = 0; done < lines.count; done += most) {
        far_head const head{far_operation::fetch,
                            {lines.first + done, std::min(most, lines.count - done)}};
        carrier.ask(home, reinterpret_cast<std::byte const*>(&head), sizeof head,
                    to + done * TULLE_COHERENT_LINE, head.lines.count * TULLE_COHERENT_LINE);
    }
}

std::size_t far_memory::claim(host_number keeper, line_range first, std::size_t count,
                              std::uint8_t* homes) noexcept {
    std::size_t const units = std::min(count, room());
    far_head const head{far_operation::claim, {first.first, units * first.count}};
    m_carrier->ask(keeper, reinterpret_cast<std::byte const*>(&head), sizeof head,
                   reinterpret_cast<std::byte*>(homes), units);
    m_carrier->wait();
    return units;
}

std::uint64_t far_memory::access(host_number home, far_access const& wanted) noexcept {
    std::uint64_t before = 0;
    begin(m_other, far_operation::access);
    append(m_other, &wanted, sizeof wanted);
    m_carrier->ask(home, m_other.bytes.data(), m_other.used, reinterpret_cast<std::byte*>(&before),
                   sizeof before);
    m_other.used = 0;
    m_carrier->wait();
    return before;
}

// --- differences ---------------------------------------------------------------------------------

bool far_memory::add_line(host_number home, line_number line, std::byte const* now, std::byte* twin,
                          twin_use use) noexcept {
    far_difference found{line, home, 0, {}};
    word changed[k_words_of_line];
    std::size_t count = 0;
    for (std::size_t k = 0; k < k_words_of_line; ++k) {
        word const value = word_at(now + k * sizeof(word));
        std::byte* const before = twin + k * sizeof(word);
        word const differs = value ^ word_at(before);
        if (differs == 0) continue;
        if (use == twin_use::goes_on) std::memcpy(before, &value, sizeof value);
        found.words |= 1U << k;
        found.bytes[k] = bytes_in(differs);
        changed[count++] = value;
    }
    if (count == 0) return false;
    draft& d = m_differences[home];
    if (d.used + k_most_of_difference > room()) {
        send(home, d);
        d.used = 0;
        m_is_under_way = true;
    }
    begin(d, far_operation::differences);
    append(d, &found, sizeof found);
    append(d, changed, count * sizeof(word));
    ++head_of(d).lines.count;
    return true;
}

line_bits far_memory::add_differences(host_number home, line_range lines, std::byte const* now,
                                      std::byte* twins, twin_use use) noexcept {
    line_bits changed = 0;
    for (std::uint64_t k = 0; k < lines.count; ++k)
        if (add_line(home, lines.first + k, now + k * TULLE_COHERENT_LINE,
                     twins + k * TULLE_COHERENT_LINE, use))
            changed |= line_bits{1} << k;
    return changed;
}

// Where there is one other machine, whose leader reaches all masters there. What is under way may
// come after what is sent now, and would come after its notices. More than a request has is divided
// among the homes.
bool far_memory::release_at_once() noexcept {
    if (m_hosts.leaders.size() != 1 || m_is_under_way || m_notices.used == 0) return false;
    std::size_t differences = 0;
    for (draft const& d : m_differences)
        if (d.used != 0) differences += d.used - sizeof(far_head);
    if (differences == 0 || m_notices.used + differences > room()) return false;
    begin(m_other, far_operation::release);
    far_head& head = head_of(m_other);
    auto const add = [this](draft& d) {
        append(m_other, d.bytes.data() + sizeof head, d.used - sizeof head);
        d.used = 0;
        return head_of(d).lines.count;
    };
    for (draft& d : m_differences)
        if (d.used != 0) head.lines.count += add(d);
    head.lines.first = add(m_notices);
    send(m_hosts.leaders.front(), m_other);
    m_other.used = 0;
    return true;
}

void far_memory::settle() noexcept {
    if (release_at_once()) return m_carrier->wait();
    for (host_number h = 0; h < m_chosen.hosts; ++h) {
        draft& d = m_differences[h];
        if (d.used != 0) send(h, d);
        d.used = 0;
    }
    m_carrier->wait();
    m_is_under_way = false;
}

// --- to all other machines -----------------------------------------------------------------------

void far_memory::add_notice(line_range lines, std::uint8_t home) noexcept {
    if (m_notices.used + sizeof(far_notice) > room()) {
        settle();
        send_notices();
    }
    begin(m_notices, far_operation::notices);
    far_notice const made{lines, home};
    append(m_notices, &made, sizeof made);
    ++head_of(m_notices).lines.count;
}

// One request after the other to each, as they are one log.
void far_memory::send_notices() noexcept {
    if (m_notices.used == 0) return;
    for (host_number const leader : m_hosts.leaders) send(leader, m_notices);
    m_notices.used = 0;
    m_carrier->wait();
}

void far_memory::add_chunks(line_range lines) noexcept {
    for (host_number const leader : m_hosts.leaders) ask(leader, {far_operation::chunks, lines});
    m_carrier->wait();
}

void far_memory::put(line_range lines, std::byte const* from) noexcept {
    std::uint64_t const most = (room() - sizeof(far_head)) / TULLE_COHERENT_LINE;
    for (std::uint64_t done = 0; done < lines.count; done += most) {
        std::uint64_t const count = std::min(most, lines.count - done);
        begin(m_other, far_operation::put);
        head_of(m_other).lines = {lines.first + done, count};
        append(m_other, from + done * TULLE_COHERENT_LINE, count * TULLE_COHERENT_LINE);
        for (host_number const leader : m_hosts.leaders) send(leader, m_other);
        m_other.used = 0;
    }
    m_carrier->wait();
}

void far_memory::share() noexcept {
    for (host_number const leader : m_hosts.leaders) ask(leader, {far_operation::share, {}});
    m_carrier->wait();
}

} // namespace tulle::dsm
