// Conjugate gradients over any type of vector, with operators as classes: colour vectors, fermions, numbers of each precision.
#include "qdp.h"
using namespace QDP;

namespace {

enum PlusMinus { PLUS = 1, MINUS = -1 };

template <typename T>
class LinearOperator {
 public:
  virtual ~LinearOperator() {}
  virtual void operator()(T& chi, const T& psi, enum PlusMinus isign) const = 0;
  virtual const Subset& subset() const = 0;
};

template <typename T>
class ShiftedLaplacian : public LinearOperator<T> {
 public:
  typedef typename WordType<T>::Type_t Word;
  explicit ShiftedLaplacian(double m2) : mass2(m2) {}
  void operator()(T& chi, const T& psi, enum PlusMinus) const {
    const OScalar<PScalar<PScalar<RScalar<Word>>>> diagonal = mass2 + 2 * Nd;
    chi[subset()] = diagonal * psi;
    for (int mu = 0; mu < Nd; ++mu) chi[subset()] -= shift(psi, FORWARD, mu) + shift(psi, BACKWARD, mu);
  }
  const Subset& subset() const { return all; }

 private:
  double mass2;
};

template <typename T>
class Normal : public LinearOperator<T> {
 public:
  explicit Normal(const LinearOperator<T>& a) : op(a) {}
  void operator()(T& chi, const T& psi, enum PlusMinus) const {
    T tmp;
    op(tmp, psi, PLUS);
    op(chi, tmp, MINUS);
  }
  const Subset& subset() const { return op.subset(); }

 private:
  const LinearOperator<T>& op;
};

template <typename T>
int conjugate_gradients(const LinearOperator<T>& A, const T& chi, T& psi, double accuracy, int most) {
  const Subset& s = A.subset();
  T r, p, ap;
  A(ap, psi, PLUS);
  r[s] = chi - ap;
  p[s] = r;
  Double c = norm2(r, s);
  const Double stop = accuracy * accuracy * norm2(chi, s);
  for (int k = 1; k <= most; ++k) {
    if (toBool(c <= stop)) return k - 1;
    A(ap, p, PLUS);
    const Double d = innerProductReal(p, ap, s);
    const Real a = c / d;
    psi[s] += a * p;
    r[s] -= a * ap;
    const Double c_new = norm2(r, s);
    const Real b = c_new / c;
    p[s] = r + b * p;
    c = c_new;
  }
  return most;
}

double rounded(const Double& x, double digits) { return digits * std::floor(toDouble(x) / digits + 0.5); }

template <typename T>
void solve(const char* name, double accuracy, double digits) {
  T chi, psi = zero, back;
  gaussian(chi);
  ShiftedLaplacian<T> laplacian(0.7);
  const int n = conjugate_gradients(laplacian, chi, psi, accuracy, 200);
  laplacian(back, psi, PLUS);
  const bool good = toDouble(norm2(T(chi - back))) < 4 * accuracy * accuracy * toDouble(norm2(chi));
  QDPIO::cout << name << ": " << n << " iterations, solved " << good << ", norm " << rounded(norm2(psi), digits)
              << std::endl;

  T phi;
  phi = zero;
  Normal<T> normal(laplacian);
  const int m = conjugate_gradients(normal, chi, phi, accuracy, 200);
  QDPIO::cout << "  normal equations: " << m << " iterations, norm " << rounded(norm2(phi), digits) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[2] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  solve<LatticeColorVector>("colour vectors", 1e-11, 1e-9);
  solve<LatticeFermion>("fermions", 1e-11, 1e-9);
  solve<LatticeComplexD>("complex numbers", 1e-11, 1e-9);
  solve<LatticeComplexF>("complex numbers in single precision", 1e-5, 1e-3);

  QDP_finalize();
  return 0;
}
