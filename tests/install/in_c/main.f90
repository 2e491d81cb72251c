! SPDX-License-Identifier: Apache-2.0
!
! A program in Fortran: it calls a function in C, which starts a thread.
program main
    use, intrinsic :: iso_c_binding
    implicit none
    interface
        integer(c_int) function answer_of_a_thread() bind(c)
            import :: c_int
        end function
    end interface
    print '(I0)', answer_of_a_thread()
end program
