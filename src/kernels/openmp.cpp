#include "lockstep/kernels/openmp.hpp"

namespace lockstep {

void run_on_openmp(int parts, const std::function<void(int)>& task) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(parts) schedule(static, 1)
#endif
  for (int part = 0; part < parts; ++part) task(part);
}

}  // namespace lockstep
