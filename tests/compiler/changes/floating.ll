; SPDX-License-Identifier: Apache-2.0
; Changes of floating-point numbers, for which C has no names: floating.c calls them. Since LLVM 15.

define float @fadd_float(ptr %at, float %operand) {
  %old = atomicrmw fadd ptr %at, float %operand seq_cst
  ret float %old
}
define double @fadd_double(ptr %at, double %operand) {
  %old = atomicrmw fadd ptr %at, double %operand seq_cst
  ret double %old
}
define float @fsub_float(ptr %at, float %operand) {
  %old = atomicrmw fsub ptr %at, float %operand seq_cst
  ret float %old
}
define double @fsub_double(ptr %at, double %operand) {
  %old = atomicrmw fsub ptr %at, double %operand seq_cst
  ret double %old
}
define float @fmin_float(ptr %at, float %operand) {
  %old = atomicrmw fmin ptr %at, float %operand seq_cst
  ret float %old
}
define double @fmin_double(ptr %at, double %operand) {
  %old = atomicrmw fmin ptr %at, double %operand seq_cst
  ret double %old
}
define float @fmax_float(ptr %at, float %operand) {
  %old = atomicrmw fmax ptr %at, float %operand seq_cst
  ret float %old
}
define double @fmax_double(ptr %at, double %operand) {
  %old = atomicrmw fmax ptr %at, double %operand seq_cst
  ret double %old
}
