// A CUDA library of long ago: it starts, and has few of today's functions.
extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 5000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
}
