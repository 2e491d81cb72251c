// SPDX-License-Identifier: Apache-2.0
module tulle.bench/peer

go 1.19
