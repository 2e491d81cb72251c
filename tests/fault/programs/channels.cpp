// SPDX-License-Identifier: Apache-2.0
//
// Channels, cancellation and timers, which need memory: what could not be sent was not, and what
// was sent arrives.
#include "inject.hpp"

#include <tulle/tulle.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace {

using namespace std::chrono_literals;

// Channels and cancellations are made in memory of the heap, and nothing else.
template <class Call> bool attempt_in_memory(Call call) {
    return fault::attempt(call, fault::allows::bad_alloc_too);
}

// As many as need several blocks.
void send_and_receive() {
    std::unique_ptr<tulle::channel<long>> c;
    if (!attempt_in_memory([&] { c = std::make_unique<tulle::channel<long>>(tulle::unbounded); }))
        return;
    long sent = 0, received = 0;
    for (long k = 1; k <= 2000; ++k) {
        if (attempt_in_memory([&] { c->send(k); })) sent += k;
        tulle::send_case again(*c, k);
        if (attempt_in_memory(
                [&] { fault::require(tulle::select(again) == 0, "there is always room"); }))
            sent += k;
        if (k % 3 == 0) received += c->try_receive().value_or(0);
    }
    while (auto const item = c->try_receive()) received += *item;
    fault::require(sent == received, "an item is lost, or was made");
}

void pass_on() {
    std::unique_ptr<tulle::channel<long>> bounded;
    if (!attempt_in_memory([&] { bounded = std::make_unique<tulle::channel<long>>(4); })) return;
    tulle::thread<long> receiver;
    bool const started = fault::attempt([&] {
        receiver = tulle::spawn([c = bounded.get()] {
            long sum = 0;
            for (long const k : *c) sum += k;
            return sum;
        });
    });
    if (!started) return;
    for (long k = 1; k <= 100; ++k)
        fault::require(bounded->send(k) == tulle::channel_status::success,
                       "a bounded channel needs no memory");
    bounded->close();
    fault::require(receiver.join() == 5050, "an item is lost, or was made");
}

void cancel() {
    std::optional<tulle::cancellation_source> whole, part;
    if (!attempt_in_memory([&] { whole.emplace(); })) return;
    if (!attempt_in_memory([&] { part.emplace(whole->get_token()); })) return;
    tulle::latch never(1);
    whole->request_stop_after(200us);
    fault::require(!never.wait(part->get_token()), "a latch opens by itself");
}

void call_later() {
    tulle::latch called(1);
    tulle::timer t;
    if (!fault::attempt(
            [&] { t = tulle::timer::after(100us, [&called] { called.count_down(); }); }))
        return;
    called.wait();
    t.wait();
}

void body() {
    fault::run_time const running(2);
    send_and_receive();
    pass_on();
    cancel();
    call_later();
}

} // namespace

int main() { return fault::run(&body); }
