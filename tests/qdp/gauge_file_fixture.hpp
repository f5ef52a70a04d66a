// What the tests of the file formats share: a folder that vanishes, random SU(3) links, plain-loop observables.
#pragma once

#include "qdp/io/ildg.hpp"
#include "qdp/io/site_stream.hpp"
#include "tests/temporary_folder.hpp"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace tests {

inline std::string read_bytes(const std::string& path) {
  return together([&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  });
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  tests::Written(path, std::ios::binary) << bytes;
}

/// The message of the T that f throws; empty if it throws nothing.
template <class T, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const T& error) {
    return error.what();
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Four random SU(3) matrices per site, in file order, unitary to the precision of Real.
template <class Real>
std::vector<Real> random_gauge_field(const QDP::io::SiteGeometry& geometry, unsigned seed = 1) {
  using Complex = std::complex<double>;
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<Real> field;
  field.reserve(geometry.volume() * QDP::io::kGaugeWordsPerSite);
  for (std::uint64_t link = 0; link < 4 * geometry.volume(); ++link) {
    Complex u[3][3];
    for (auto& row : u)
      for (auto& z : row) z = {normal(engine), normal(engine)};
    for (int r = 0; r < 2; ++r) {  // Gram-Schmidt for two rows, then the third from them
      for (int q = 0; q < r; ++q) {
        Complex overlap = 0;
        for (int c = 0; c < 3; ++c) overlap += std::conj(u[q][c]) * u[r][c];
        for (int c = 0; c < 3; ++c) u[r][c] -= overlap * u[q][c];
      }
      double norm2 = 0;
      for (int c = 0; c < 3; ++c) norm2 += std::norm(u[r][c]);
      for (int c = 0; c < 3; ++c) u[r][c] /= std::sqrt(norm2);
    }
    for (int c = 0; c < 3; ++c)
      u[2][c] = std::conj(u[0][(c + 1) % 3] * u[1][(c + 2) % 3] - u[0][(c + 2) % 3] * u[1][(c + 1) % 3]);
    for (const auto& row : u)
      for (const auto& z : row) {
        field.push_back(static_cast<Real>(z.real()));
        field.push_back(static_cast<Real>(z.imag()));
      }
  }
  return field;
}

/// Observables of a field in file order, by loops over sites and matrix elements.
class PlainGaugeField {
 public:
  PlainGaugeField(const QDP::io::SiteGeometry& geometry, const std::vector<double>& words)
      : extents_(geometry.extents), volume_(geometry.volume()), words_(words) {}

  /// Average over sites and six planes of Re tr U_p / 3.
  double plaquette() const {
    double sum = 0;
    for (std::uint64_t x = 0; x < volume_; ++x)
      for (int mu = 0; mu < 4; ++mu)
        for (int nu = mu + 1; nu < 4; ++nu) {
          const Matrix forth = link(x, mu) * link(neighbour(x, mu), nu);
          const Matrix back = link(x, nu) * link(neighbour(x, nu), mu);
          for (int i = 0; i < 9; ++i) sum += (forth.m[i] * std::conj(back.m[i])).real();  // tr(A B^dagger)
        }
    return sum / (static_cast<double>(volume_) * 6 * 3);
  }

  /// Average over sites and directions of Re tr U / 3.
  double link_trace() const {
    double sum = 0;
    for (std::uint64_t x = 0; x < volume_; ++x)
      for (int mu = 0; mu < 4; ++mu)
        for (int c = 0; c < 3; ++c) sum += link(x, mu).m[4 * c].real();
    return sum / (static_cast<double>(volume_) * 4 * 3);
  }

 private:
  struct Matrix {
    std::complex<double> m[9];
    friend Matrix operator*(const Matrix& a, const Matrix& b) {
      Matrix c;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          for (int k = 0; k < 3; ++k) c.m[3 * i + j] += a.m[3 * i + k] * b.m[3 * k + j];
      return c;
    }
  };

  Matrix link(std::uint64_t x, int mu) const {
    Matrix u;
    const double* w = words_.data() + x * QDP::io::kGaugeWordsPerSite + static_cast<std::size_t>(mu) * 18;
    for (int i = 0; i < 9; ++i) u.m[i] = {w[2 * i], w[2 * i + 1]};
    return u;
  }

  std::uint64_t neighbour(std::uint64_t x, int mu) const {
    std::uint64_t stride = 1;
    for (int nu = 0; nu < mu; ++nu) stride *= static_cast<std::uint64_t>(extents_[static_cast<std::size_t>(nu)]);
    const auto extent = static_cast<std::uint64_t>(extents_[static_cast<std::size_t>(mu)]);
    return x / stride % extent == extent - 1 ? x - (extent - 1) * stride : x + stride;
  }

  std::vector<int> extents_;
  std::uint64_t volume_;
  const std::vector<double>& words_;
};

}  // namespace tests
