// SPDX-License-Identifier: Apache-2.0
// All of Tulle.
#pragma once

#include <tulle/address_lock.hpp>
#include <tulle/algorithm.hpp>
#include <tulle/barrier.hpp>
#include <tulle/condition_variable.hpp>
#include <tulle/feb.hpp>
#include <tulle/fork.hpp>
#include <tulle/full_empty.hpp>
#include <tulle/future.hpp>
#include <tulle/latch.hpp>
#include <tulle/loop_options.hpp>
#include <tulle/mutex.hpp>
#include <tulle/once.hpp>
#include <tulle/parallel_for.hpp>
#include <tulle/parallel_reduce.hpp>
#include <tulle/parallel_scan.hpp>
#include <tulle/parallel_sort.hpp>
#include <tulle/runtime.hpp>
#include <tulle/schedule_point.hpp>
#include <tulle/scope.hpp>
#include <tulle/signal.hpp>
#include <tulle/spawn_group.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>
#include <tulle/thread_specific.hpp>
#include <tulle/version.hpp>
#include <tulle/when.hpp>
#include <tulle/worker_local.hpp>
