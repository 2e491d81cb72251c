// SPDX-License-Identifier: Apache-2.0
// How arguments and results travel between places.
//
// What travels
//   numbers, enumerations, and what can be copied byte by byte, also if it is a class
//   strings, vectors and other sequences, sets and maps, pairs, tuples, arrays, optionals, variants
//   std::unique_ptr, std::shared_ptr and std::weak_ptr, with the objects that they lead to
//   aggregates: the members are found if there are at most 32, no base class, union or C array
//   classes with a member that names their parts to an archive, as cereal has it:
//     template <class Archive> void serialize(Archive& archive) { archive(name, weight); }
//   classes for which wire<T> is specialised (<tulle/wire_bytes.hpp>)
// of whatever travels, so that trees and graphs do:
//   struct city { std::string name; std::vector<std::shared_ptr<city>> roads; };
//   at(there, [](std::shared_ptr<city> const& start) { ... }, start);
// All places run the same program, so nothing is said of types or byte order.
//
// What does not, and what to send instead
//   a pointer, reference, span or string_view   what it points to; a view; a global_ref
//                                               (<tulle/place.hpp>)
//   an aggregate with a pointer in it           a std::unique_ptr, or a number
//   a lock                                      <tulle/at_home.hpp>, <tulle/global_mutex.hpp>
//   a std::function                             a lambda without captures, with arguments
// These are refused when the program is compiled. What nobody sees there: pointers in classes that
// are no aggregates, and captured ones; TULLE_CHECK=1 finds them when they are sent.
//
// Pointers
// What a pointer owns or shares is written with it, and what that leads to. Within a value, and
// within all arguments of one call, an object that is shared arrives as one object that is shared,
// and cycles as cycles; pointers to constant objects and to base classes share it, too. A weak_ptr
// arrives with its object if something else owns that there, else as one that has expired. A
// shared_ptr to a part of an object (an alias) arrives with an object of its own.
// Objects of a class that has virtual functions and is not final travel as what they are if their
// classes are named; each of these travels as above:
//   template <> struct tulle::kinds_of<shape> : tulle::kinds<circle, square> {};
// An object behind a pointer is made by its default constructor; its parts follow when everything
// before them has been read. So a list may have millions of nodes, whatever the stack. serialize()
// and assignments see pointers to objects that are still empty: they must neither look at these nor
// drop them. What a specialisation of wire reads is complete, as are keys of sets and maps,
// variables of serialize(), and objects of classes whose moves may throw.
// An object without a default constructor, or without an assignment where its parts are not known,
// is made when its parts have been read. It is part of no cycle, and nobody watches it.
//
// Depth
// Values that contain each other (an object in a vector in an object, not behind a pointer), and
// what has to be complete, may be as deep as the thread's stack has room for, at both places: about
// 20 on 16 KiB and 1000 on 256 KiB. Deeper ones are refused. Destructors are the program's: that of
// a list of unique_ptr calls itself for each node, unless it is written as a loop.
// What serialize() or a specialisation gives away by pointer when it writes must stay until the
// outermost value has been written.
//
// Errors
// Writing: std::bad_alloc. std::invalid_argument: kinds_of does not name the class of an object; a
// cycle of objects that are made with their parts; too deep for the stack; a variant without a
// value.
// Reading: std::bad_alloc; what constructors throw. wire_error: the bytes are cut off, or are none
// that a value of that type makes; too deep for the stack. No bytes lead to anything else: what has
// been read by then is emptied, object by object, and destroyed. Memory is asked for in proportion
// to the bytes. Values that are copied byte by byte are not looked at, but for a single bool.
// Contexts: any thread.
#pragma once

#include <tulle/detail/wire_containers.hpp>
#include <tulle/detail/wire_pointers.hpp>
#include <tulle/wire_bytes.hpp>
