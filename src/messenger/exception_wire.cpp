// SPDX-License-Identifier: Apache-2.0
#include "messenger/exception_wire.hpp"

#include <tulle/finish.hpp>
#include <tulle/place.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <vector>

#include <cxxabi.h>

namespace tulle::messenger {

namespace {

enum class form : std::uint8_t { known, no_memory, generic_code, system_code, list, remote, death };

// The standard exceptions that are made from a text.
struct known_type {
    std::type_info const* type;
    std::exception_ptr (*make)(std::string const& what);
};
template <class E> known_type known() {
    return {&typeid(E), [](std::string const& what) { return std::make_exception_ptr(E(what)); }};
}
std::array<known_type, 10> const& known_types() {
    static std::array const s_types{known<std::runtime_error>(),    known<std::logic_error>(),
                                    known<std::invalid_argument>(), known<std::domain_error>(),
                                    known<std::length_error>(),     known<std::out_of_range>(),
                                    known<std::range_error>(),      known<std::overflow_error>(),
                                    known<std::underflow_error>(),  known<wire_error>()};
    return s_types;
}

std::string readable(std::type_info const& type) {
    int error = 0;
    std::unique_ptr<char, void (*)(void*)> const text(
        abi::__cxa_demangle(type.name(), nullptr, nullptr, &error), &std::free);
    return error == 0 ? text.get() : type.name();
}

void put_remote(wire_writer& to, int place, std::string const& type, std::string const& what) {
    to.put(form::remote);
    to.put(place);
    to.put(type);
    to.put(what);
}

void put_death(wire_writer& to, dead_place const& e) {
    to.put(form::death);
    to.put(e.place());
    to.put(e.lost());
    to.put(std::string(e.what()));
}

void put_standard(wire_writer& to, std::exception const& e, int here) {
    auto const& types = known_types();
    for (std::size_t k = 0; k < types.size(); ++k) {
        if (*types[k].type != typeid(e)) continue;
        to.put(form::known);
        to.put(k);
        return to.put(std::string(e.what()));
    }
    put_remote(to, here, readable(typeid(e)), e.what());
}

void put_code(wire_writer& to, std::system_error const& e, int here) {
    bool const is_generic = e.code().category() == std::generic_category();
    if (typeid(e) != typeid(std::system_error) ||
        (!is_generic && e.code().category() != std::system_category()))
        return put_standard(to, e, here);
    to.put(is_generic ? form::generic_code : form::system_code);
    to.put(e.code().value());
    // what() is "text: message of the code"; the message is made anew.
    std::string what = e.what();
    std::string const end = ": " + e.code().message();
    if (what.ends_with(end)) what.resize(what.size() - end.size());
    to.put(what);
}

void put_list(wire_writer& to, exception_list const& e, int here) {
    to.put(form::list);
    to.put(std::uint64_t{e.all().size()});
    for (auto const& one : e.all()) put_exception(to, one, here);
}

std::exception_ptr get_code(wire_reader& from, std::error_category const& category) {
    int const value = from.get<int>();
    return std::make_exception_ptr(std::system_error(value, category, from.get<std::string>()));
}

std::exception_ptr get_list(wire_reader& from) {
    std::vector<std::exception_ptr> all;
    for (std::size_t left = from.get_count(1); left != 0; --left)
        all.push_back(get_exception(from));
    return std::make_exception_ptr(exception_list(std::move(all)));
}

std::exception_ptr get_remote(wire_reader& from) {
    int const place = from.get<int>();
    auto type = from.get<std::string>();
    return std::make_exception_ptr(remote_error(place, std::move(type), from.get<std::string>()));
}

std::exception_ptr get_death(wire_reader& from) {
    int const place = from.get<int>();
    auto const lost = from.get<std::uint64_t>();
    return std::make_exception_ptr(dead_place(place, lost, from.get<std::string>()));
}

} // namespace

void put_exception(wire_writer& to, std::exception_ptr const& e, int here) {
    try {
        std::rethrow_exception(e);
    } catch (remote_error const& remote) {
        put_remote(to, remote.place(), remote.type(), remote.what());
    } catch (dead_place const& death) {
        put_death(to, death);
    } catch (exception_list const& list) {
        put_list(to, list, here);
    } catch (std::system_error const& code) {
        put_code(to, code, here);
    } catch (std::bad_alloc const&) {
        to.put(form::no_memory);
    } catch (std::exception const& standard) {
        put_standard(to, standard, here);
    } catch (...) {
        std::type_info const* const type = abi::__cxa_current_exception_type();
        put_remote(to, here, type != nullptr ? readable(*type) : "unknown",
                   "an exception that is not a std::exception");
    }
}

std::exception_ptr get_exception(wire_reader& from) {
    switch (from.get<form>()) {
        case form::known: {
            auto const index = from.get<std::size_t>();
            if (index >= known_types().size()) break;
            return known_types()[index].make(from.get<std::string>());
        }
        case form::no_memory: return std::make_exception_ptr(std::bad_alloc());
        case form::generic_code: return get_code(from, std::generic_category());
        case form::system_code: return get_code(from, std::system_category());
        case form::list: return get_list(from);
        case form::remote: return get_remote(from);
        case form::death: return get_death(from);
    }
    throw wire_error("tulle: a message holds no exception");
}

std::exception_ptr shortened(std::exception_ptr const& e, int here) {
    constexpr std::size_t k_most_text = 400;
    try {
        std::rethrow_exception(e);
    } catch (std::exception const& standard) {
        return std::make_exception_ptr(
            remote_error(here, "", std::string(standard.what()).substr(0, k_most_text) + " ..."));
    } catch (...) {
        return std::make_exception_ptr(
            remote_error(here, "", "an exception that is not a std::exception"));
    }
}

} // namespace tulle::messenger
