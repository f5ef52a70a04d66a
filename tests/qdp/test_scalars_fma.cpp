// The tests of scalars, compiled for processors with fused multiply-add and with leave to fuse: more of the arithmetic is the compiler's
// then, and none of the bits (qdp/types/plain.hpp).
#include "test_scalars.cpp"
