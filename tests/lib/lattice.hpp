// What the tests of the physics share: lattices, random fields, gauge transformations, inputs from text, data files.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/gauge/start.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/io/gauge_init.hpp"
#include "lib/io/input.hpp"
#include "lib/io/seed.hpp"
#include "tests/mpirun.hpp"
#include "tests/paths.hpp"
#include "tests/reference/base_precision.hpp"
#include "tests/sizes.hpp"
#include "tests/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace tests {

using qcd::GaugeField;

/// Extents as an input spells them, without those of dimensions that are not there.
inline std::string extents_text(const std::vector<int>& four) {
  std::string text;
  for (std::size_t mu = 0; mu < static_cast<std::size_t>(QDP::Nd); ++mu)
    text += (mu ? " " : "") + std::to_string(four.at(mu));
  return text;
}

/// Makes this the lattice, with the generator's default seed 11. Fewer dimensions leave off the last extents.
/// Leaves the case if the grid of ranks does not share it out.
inline void use_lattice(const std::vector<int>& extents) {
  static const bool initialized = [] {
    static char name[] = "test";
    static char* arguments[] = {name, nullptr};
    int argc = 1;
    char** argv = arguments;
    QDP::QDP_initialize(&argc, &argv);
    return true;
  }();
  (void)initialized;
  QDP::multi1d<int> nrow(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) nrow[mu] = extents.at(static_cast<std::size_t>(mu));
  must_share_out(extents.data());
  QDP::Layout::setLattSize(nrow);
  QDP::Layout::create();
  QDP::RNG::setrn(qcd::make_seed({11, 0, 0, 0}));
}

/// A disordered SU(3) field.
inline GaugeField random_field() {
  GaugeField u(QDP::Nd);
  qcd::disordered_start(u);
  return u;
}

/// Random elements of the algebra, of order `size`.
inline GaugeField random_algebra(double size = 1) {
  GaugeField x(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) {
    QDP::gaussian(x[mu]);
    x[mu] = qcd::taproj(QDP::Real(size) * x[mu]);
  }
  return x;
}

/// U_mu(x) -> g(x) U_mu(x) g(x+mu)^+ with a random g.
inline GaugeField gauge_transformed(const GaugeField& u, QDP::LatticeColorMatrix& g) {
  QDP::gaussian(g);
  g = qcd::su3_exp(qcd::taproj(g));
  GaugeField v(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) v[mu] = g * u[mu] * QDP::adj(QDP::shift(g, FORWARD, mu));
  return v;
}

/// sqrt(sum |a - b|^2).
inline double distance(const GaugeField& a, const GaugeField& b) {
  double squares = 0;
  for (int mu = 0; mu < QDP::Nd; ++mu) squares += QDP::toDouble(QDP::norm2(a[mu] - b[mu]));
  return std::sqrt(squares);
}
inline double distance(const QDP::LatticeColorMatrix& a, const QDP::LatticeColorMatrix& b) {
  return std::sqrt(QDP::toDouble(QDP::norm2(a - b)));
}

/// sum over sites and directions of tr(a^+ b), real part.
inline double inner(const GaugeField& a, const GaugeField& b) {
  double total = 0;
  for (int mu = 0; mu < QDP::Nd; ++mu) total += QDP::toDouble(QDP::innerProductReal(a[mu], b[mu]));
  return total;
}

/// An input document from text.
inline qcd::InputFile input(const std::string& text) { return qcd::InputFile::from_text(text, "test input"); }

/// Reads a gauge field as a run would, cfg_type SCIDAC or NERSC.
inline GaugeField read_field(const std::string& cfg_type, const std::string& file) {
  const qcd::InputFile document =
      input("<Cfg><cfg_type>" + cfg_type + "</cfg_type><cfg_file>" + file + "</cfg_file></Cfg>");
  const qcd::GaugeInit init = qcd::read_gauge_init(document.root());
  document.require_valid();
  GaugeField u(QDP::Nd);
  init(u);
  return u;
}

/// An empty folder for this test's files, removed afterwards.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name)
      : path_(of_first_rank(
            (std::filesystem::temp_directory_path() / ("tessera_" + name + "_" + std::to_string(::getpid())))
                .string())) {
    once([&] {
      std::filesystem::remove_all(path_);
      std::filesystem::create_directories(path_);
    });
  }
  ~ScratchFolder() { remove_after_use(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace tests
