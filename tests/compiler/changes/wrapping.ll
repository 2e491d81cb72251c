; SPDX-License-Identifier: Apache-2.0
; Counters that begin again behind a limit, for which C has no names: wrapping.c calls them. Since
; LLVM 16.

define i8 @count_up_8(ptr %at, i8 %limit) {
  %old = atomicrmw uinc_wrap ptr %at, i8 %limit acq_rel
  ret i8 %old
}
define i16 @count_up_16(ptr %at, i16 %limit) {
  %old = atomicrmw uinc_wrap ptr %at, i16 %limit acq_rel
  ret i16 %old
}
define i32 @count_up_32(ptr %at, i32 %limit) {
  %old = atomicrmw uinc_wrap ptr %at, i32 %limit acq_rel
  ret i32 %old
}
define i64 @count_up_64(ptr %at, i64 %limit) {
  %old = atomicrmw uinc_wrap ptr %at, i64 %limit acq_rel
  ret i64 %old
}
define i8 @count_down_8(ptr %at, i8 %limit) {
  %old = atomicrmw udec_wrap ptr %at, i8 %limit acq_rel
  ret i8 %old
}
define i16 @count_down_16(ptr %at, i16 %limit) {
  %old = atomicrmw udec_wrap ptr %at, i16 %limit acq_rel
  ret i16 %old
}
define i32 @count_down_32(ptr %at, i32 %limit) {
  %old = atomicrmw udec_wrap ptr %at, i32 %limit acq_rel
  ret i32 %old
}
define i64 @count_down_64(ptr %at, i64 %limit) {
  %old = atomicrmw udec_wrap ptr %at, i64 %limit acq_rel
  ret i64 %old
}
