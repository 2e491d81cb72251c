// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/activity.h>.
#include "capi/activities_of.hpp"
#include "capi/bytes.hpp"
#include "capi/limit.hpp"
#include "capi/without_exceptions.hpp"
#include "messenger/calls.hpp"

#include <tulle/c/activity.h>
#include <tulle/finish.hpp>
#include <tulle/global_shepherd.hpp>
#include <tulle/place.hpp>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

struct tulle_call {
    tulle::future<tulle::capi::byte_block> result;
};

namespace tulle::capi {
namespace {

using messenger::code_name;
using messenger::object_at;

using finish_body = void (*)(tulle_activities_t*, void*);

// --- at ------------------------------------------------------------------------------------------

struct call_named {
    byte_block operator()(code_name code, block_view const& argument,
                          std::size_t result_size) const {
        auto* const function = function_of<tulle_call_function_t>(code);
        byte_block result(result_size);
        function(argument.bytes, argument.size, result.data(), result.size());
        return result;
    }
};

// As the caller gives it.
struct sent_block {
    void const* bytes;
    std::size_t size;
};

int refusal_of_call(int place, tulle_call_function_t* function, void const* argument,
                    std::size_t size) {
    return is_place_number(place) ? refusal_of(function, argument, size) : -EINVAL;
}

// `how`: call_named, or what calls it.
template <class How>
int call(int place, How how, tulle_call_function_t* function, sent_block argument, void* result,
         std::size_t result_size) {
    if (int const error = refusal_of_call(place, function, argument.bytes, argument.size))
        return error;
    if (!is_block(result, result_size)) return -EINVAL;
    return without_exceptions([&] {
        byte_block const aligned =
            place == detail::here_index() ? copy_of(argument.bytes, argument.size) : byte_block();
        block_view const sent =
            aligned.empty() ? block_view(argument.bytes, argument.size) : block_view(aligned);
        byte_block const bytes =
            at(tulle::place(place), how, name_of_function(function), sent, result_size);
        copy_bytes(result, bytes.data(), bytes.size());
        return 0;
    });
}

int take_result(tulle_call_t* call, void* out) {
    std::unique_ptr<tulle_call_t> const last(call);
    return without_exceptions([&] {
        byte_block const result = last->result.get();
        if (out != nullptr) copy_bytes(out, result.data(), result.size());
        return 0;
    });
}

// --- finish and async ----------------------------------------------------------------------------

tulle_activities_t* as_c(activities& all) noexcept {
    return reinterpret_cast<tulle_activities_t*>(&all);
}

bool run_until(tulle_limit_t const* limit, finish_body body, void* argument) {
    auto const run = [=](activities& all) { body(as_c(all), argument); };
    if (limit != nullptr) return tulle::finish(wait_limit::of(capi::limit_of(*limit)), run);
    tulle::finish(run);
    return true;
}

std::uint64_t lost_with(std::exception_ptr const& e) noexcept try {
    std::rethrow_exception(e);
} catch (dead_place const& death) {
    return death.lost();
} catch (exception_list const& list) {
    std::uint64_t sum = 0;
    for (std::exception_ptr const& one : list.all()) sum += lost_with(one);
    return sum;
} catch (...) {
    return 0;
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;

int tulle_call_at(int place, tulle_call_function_t* function, const void* argument, size_t size,
                  void* result, size_t result_size) {
    return call(place, call_named(), function, {argument, size}, result, result_size);
}

int tulle_call_at_shepherd(int place, int shepherd, tulle_call_function_t* function,
                           const void* argument, size_t size, void* result, size_t result_size) {
    return call(place, tulle::on_shepherd(shepherd, call_named()), function, {argument, size},
                result, result_size);
}

int tulle_call_begin(tulle_call_t** out, int place, tulle_call_function_t* function,
                     const void* argument, size_t size, size_t result_size) {
    if (out == nullptr) return -EINVAL;
    if (int const error = refusal_of_call(place, function, argument, size)) return error;
    return without_exceptions([&] {
        auto made = std::make_unique<tulle_call_t>();
        made->result = tulle::async([where = tulle::place(place), code = name_of_function(function),
                                     own = copy_of(argument, size), result_size] {
            return tulle::at(where, call_named(), code, block_view(own), result_size);
        });
        *out = made.release();
        return 0;
    });
}

int tulle_call_wait(tulle_call_t* call, void* result, const tulle_limit_t* limit) {
    if (call == nullptr) return -EINVAL;
    if (limit != nullptr &&
        !call->result.wait(tulle::wait_limit::of(tulle::capi::limit_of(*limit))))
        return tulle::capi::reason_of(*limit);
    return take_result(call, result);
}

int tulle_call_abandon(tulle_call_t* call) {
    if (call == nullptr) return -EINVAL;
    delete call;
    return 0;
}

int tulle_finish(void (*body)(tulle_activities_t* all, void* argument), void* argument) {
    return tulle_finish_within(body, argument, nullptr, nullptr);
}

int tulle_finish_within(void (*body)(tulle_activities_t* all, void* argument), void* argument,
                        const tulle_limit_t* limit, uint64_t* lost) {
    if (body == nullptr) return -EINVAL;
    if (lost != nullptr) *lost = 0;
    try {
        return run_until(limit, body, argument) ? 0 : -ECANCELED;
    } catch (...) {
        std::exception_ptr const thrown = std::current_exception();
        if (lost != nullptr) *lost = lost_with(thrown);
        return error_number(thrown);
    }
}

int tulle_async_at(tulle_activities_t* activities, int place, tulle_activity_function_t* function,
                   const void* argument, size_t size) {
    if (!is_place_number(place)) return -EINVAL;
    if (int const error = refusal_of(function, argument, size)) return error;
    return without_exceptions([&] {
        activities_of(activities)
            .async_at(tulle::place(place), run_named(), name_of_function(function),
                      copy_of(argument, size));
        return 0;
    });
}

int tulle_async_any(tulle_activities_t* activities, tulle_activity_function_t* function,
                    const void* argument, size_t size) {
    if (int const error = refusal_of(function, argument, size)) return error;
    return without_exceptions([&] {
        activities_of(activities)
            .async_any(run_named(), name_of_function(function), copy_of(argument, size));
        return 0;
    });
}

int tulle_finish_cancel(tulle_activities_t* activities) {
    return without_exceptions(
        [&] { return activities_of(activities).request_stop() ? 0 : -EALREADY; });
}

tulle_cancellation_t* tulle_finish_cancellation(tulle_activities_t* activities) {
    tulle_cancellation_t* stop = nullptr;
    int const error = without_exceptions([&] {
        // The finish keeps it, too.
        tulle::cancellation_token const token = activities_of(activities).get_token();
        stop = reinterpret_cast<tulle_cancellation_t*>(tulle::wait_limit(token).get().token);
        return 0;
    });
    return error == 0 ? stop : nullptr;
}

tulle_global_ref_t tulle_global_ref(const void* object) {
    return {tulle::detail::here_index(), ~std::uint64_t{reinterpret_cast<std::uintptr_t>(object)}};
}

void* tulle_global_ref_get(tulle_global_ref_t ref) {
    return ref.place == tulle::detail::here_index() ? &object_at<std::byte>(~ref.complement)
                                                    : nullptr;
}
