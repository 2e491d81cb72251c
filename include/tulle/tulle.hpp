// SPDX-License-Identifier: Apache-2.0
// All of Tulle.
#pragma once

#include <tulle/fork.hpp>
#include <tulle/runtime.hpp>
#include <tulle/scope.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>
#include <tulle/version.hpp>
