// SPDX-License-Identifier: Apache-2.0
//
// Rings that a receiver polls from their first message on: it does not sleep while a message lies
// in one. A lost message shows as a deadlock, because all are waited for.
#include "explorer/explore.hpp"
#include "net/doorbell.hpp"
#include "net/used_rings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using namespace tulle;
using enum std::memory_order;
using machine = model::machine;

constexpr std::size_t k_rings = 2;

// A receiver with a ring of one message for each sender.
class place {
public:
    void send(std::size_t ring) {
        m_used.enter(ring);                 // U1
        m_messages[ring].store(1, relaxed); // D1; it carries nothing
        m_doorbell.ring();                  // D2
    }
    void send_before_it_is_entered(std::size_t ring) {
        m_messages[ring].store(1, relaxed);
        m_doorbell.ring();
        m_used.enter(ring);
    }
    bool poll() {
        std::uint32_t const count = m_used.count(); // U2
        if (count != m_known_count) find(count);
        bool found = false;
        for (std::size_t k = 0; k < k_rings; ++k) {
            if (!m_is_known[k] || m_messages[k].load(relaxed) == 0) continue;
            m_messages[k].store(0, relaxed);
            ++m_arrived;
            found = true;
        }
        return found;
    }
    void take_all() {
        while (m_arrived < k_rings) {
            if (poll()) continue;
            m_doorbell.arm();                       // E1
            if (poll()) continue;                   // E2
            m_doorbell.sleep(model::k_no_deadline); // E3
        }
    }

private:
    void find(std::uint32_t count) {
        m_known_count = count;
        for (std::size_t k = 0; k < k_rings; ++k) m_is_known[k] = m_used.has(k);
    }

    net::used_rings<machine, k_rings> m_used;
    net::doorbell<machine> m_doorbell;
    std::array<model::atomic<std::uint32_t>, k_rings> m_messages;
    std::uint32_t m_known_count = 0; // of the receiver, as are the next
    std::array<bool, k_rings> m_is_known{};
    std::size_t m_arrived = 0;
};

model::test_body senders_and_receiver(void (place::*send)(std::size_t)) {
    return [send](model::test& t) {
        auto& p = t.make<place>();
        for (std::size_t k = 0; k < k_rings; ++k) t.thread([&p, send, k] { (p.*send)(k); });
        t.thread([&p] { p.take_all(); });
    };
}

using model::random;

TEST(used_rings, the_first_message_of_each_arrives) {
    model::result const r =
        model::explore("used_rings", random(60000), senders_and_receiver(&place::send));
    EXPECT_TRUE(r.passed()) << r;
}

TEST(used_rings, every_order_is_needed) {
    auto const mutants = model::weaken_each("used_rings_weakened", random(20000),
                                            senders_and_receiver(&place::send));
    EXPECT_GE(mutants.size(), 3U); // both sides of the count, and the fences of the doorbell
    EXPECT_EQ(model::survivors(mutants), "");
}

TEST(used_rings, are_entered_before_the_doorbell_is_rung) {
    model::options o = random(60000);
    o.expect_failure = true;
    model::result const r = model::explore("used_rings_late", o,
                                           senders_and_receiver(&place::send_before_it_is_entered));
    EXPECT_TRUE(r.failed);
    EXPECT_NE(r.message.find("deadlock"), std::string::npos) << r;
}

} // namespace
