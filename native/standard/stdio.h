// CUDA C++ has the functions of this header without an include.
