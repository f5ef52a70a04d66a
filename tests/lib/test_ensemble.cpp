// Averages of whole runs of hmc and of the heatbath against other people's Monte Carlo. A twentieth of the statistics that
// QCD_ENSEMBLE_TESTS=1 asks for, which takes many minutes.

#include "lib/action/gauge_actions.hpp"
#include "lib/heatbath/heatbath.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using namespace QDP;

namespace {

/// One part of so many.
int part() { return std::getenv("QCD_ENSEMBLE_TESTS") != nullptr ? 1 : 20; }

/// How many errors off is wrong. A short series that is another one, with other elementary functions, must not be found so.
double too_far() { return part() > 1 ? 5 : 3; }

struct Value {
  double mean;
  double error;
};

/// Mean and error of a series, from the spread of the means of 30 blocks (much longer than the autocorrelation).
Value blocked_mean(const std::vector<double>& x) {
  const std::size_t blocks = 30, length = x.size() / blocks;
  std::vector<double> means(blocks, 0);
  double mean = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t i = 0; i < length; ++i) means[b] += x[b * length + i] / static_cast<double>(length);
    mean += means[b] / static_cast<double>(blocks);
  }
  double square = 0;
  for (double m : means) square += (m - mean) * (m - mean);
  return {mean, std::sqrt(square / static_cast<double>(blocks * (blocks - 1)))};
}

/// All values of an observable after the warm-up.
std::vector<double> series(XMLReader& data, const std::string& path) {
  XMLReader updates(data, "/hmc/doHMC/MCUpdates");
  std::vector<double> values;
  const int n = updates.count("elem");
  for (int i = 1; i <= n; ++i) {
    XMLReader elem(updates, "elem[" + std::to_string(i) + "]/Update");
    bool warm_up;
    read(elem, "WarmUpP", warm_up);
    if (warm_up) continue;
    double value;
    read(elem, path, value);
    values.push_back(value);
  }
  return values;
}

void check(const Value& got, const Value& expected) {
  CAPTURE(got.mean);
  CAPTURE(got.error);
  CHECK(got.error < 1e-3 * std::sqrt(part()));
  CHECK(std::fabs(got.mean - expected.mean) < too_far() * std::hypot(got.error, expected.error));
}

void check_run(const std::string& input, Value plaquette, Value rectangle) {
  CAPTURE(input);
  const tests::ScratchFolder folder("ensemble");
  const std::string program = tests::binary_folder() / "bin/hmc", document = folder.file("input.xml");
  std::ifstream example(tests::source_folder() / "examples/hmc" / input);
  std::string text(std::istreambuf_iterator<char>(example), {});
  const auto number = [&](const std::string& tag) {
    const std::size_t at = text.find(tag) + tag.size();
    return std::pair(at, text.find('<', at) - at);
  };
  const auto [at, length] = number("<NUpdatesThisRun>");
  const auto [warm_at, warm_length] = number("<NWarmUpUpdates>");
  const int warm = std::stoi(text.substr(warm_at, warm_length)), all = std::stoi(text.substr(at, length)),
            counted = (all - warm) / part();
  text.replace(at, length, std::to_string(warm + counted));
  std::ofstream(document) << text;
  const std::string command =
      "cd '" + folder.file("") + "' && '" + program + "' -i '" + document + "' -o data.xml -l /dev/null > text";
  REQUIRE(std::system(command.c_str()) == 0);
  XMLReader data(folder.file("data.xml"));
  const std::vector<double> p = series(data, "InlineObservables/elem/Plaquette/w_plaq");
  CHECK(p.size() == static_cast<std::size_t>(counted));
  check(blocked_mean(p), plaquette);
  if (rectangle.error > 0) check(blocked_mean(series(data, "InlineObservables/elem/Rectangle/w_rect")), rectangle);

  std::vector<double> exponentials;
  for (double dh : series(data, "HMCTrajectory/deltaH")) exponentials.push_back(std::exp(-dh));
  const Value one = blocked_mean(exponentials);
  CHECK(std::fabs(one.mean - 1) < too_far() * one.error);
}

/// The same by heatbath and over-relaxation.
void check_heatbath(const qcd::LoopAction& action, Value plaquette, Value rectangle, const std::vector<int>& lattice,
                    int updates) {
  tests::use_lattice(lattice);
  qcd::HeatbathParameters parameters;
  parameters.over_relaxation = 2;
  parameters.trial = qcd::HeatbathTrial::kennedy_pendleton;
  qcd::Heatbath heatbath(std::make_shared<qcd::LoopAction>(action), {}, parameters);
  qcd::GaugeField u = tests::random_field();
  for (int i = 0; i < 300 / (part() > 1 ? 5 : 1); ++i) heatbath.update(u);
  std::vector<double> p, r;
  for (int i = 0; i < updates / part(); ++i) {
    heatbath.update(u);
    p.push_back(toDouble(qcd::average_plaquette(u)));
    r.push_back(toDouble(qcd::sum_rectangles(u)) / (12.0 * static_cast<double>(Layout::vol())));
  }
  check(blocked_mean(p), plaquette);
  if (rectangle.error > 0) check(blocked_mean(r), rectangle);
}

}  // namespace

TEST_CASE("Wilson action, beta 5.7, 4^4") { check_run("wilson_5.7.xml", {0.55913, 0.00029}, {}); }
TEST_CASE("Wilson action, beta 6.0, 4^4") { check_run("wilson_6.0.xml", {0.59662, 0.00018}, {0.38922, 0.00026}); }
TEST_CASE("tree-level Symanzik action, beta 3.3, 4^4") {
  check_run("symanzik_3.3.xml", {0.40386, 0.00031}, {0.15174, 0.00029});
}
TEST_CASE("Iwasaki action, beta 2.6, 4^4") { check_run("iwasaki_2.6.xml", {0.67157, 0.00029}, {0.45584, 0.00046}); }

TEST_CASE("heatbath, Wilson action from strong to weak coupling") {
  const std::vector<int> small = {4, 4, 4, 4};
  check_heatbath(qcd::wilson_action(1.0), {0.060222, 0.000085}, {}, small, 3000);
  check_heatbath(qcd::wilson_action(5.0), {0.40054, 0.00031}, {0.16311, 0.00027}, small, 9000);
  check_heatbath(qcd::wilson_action(5.7), {0.55913, 0.00029}, {}, small, 15000);
  check_heatbath(qcd::wilson_action(6.0), {0.59662, 0.00018}, {0.38922, 0.00026}, small, 12000);
  check_heatbath(qcd::wilson_action(5.7), {0.54944, 0.00035}, {}, {8, 8, 8, 8}, 2000);
}
TEST_CASE("heatbath, improved actions") {
  const std::vector<int> small = {4, 4, 4, 4};
  check_heatbath(qcd::improved_action(3.3, -1.0 / 12), {0.40386, 0.00031}, {0.15174, 0.00029}, small, 9000);
  check_heatbath(qcd::improved_action(2.6, -0.331), {0.67157, 0.00029}, {0.45584, 0.00046}, small, 9000);
  check_heatbath(qcd::improved_action(0.87, -1.4069), {0.67524, 0.00028}, {0.44735, 0.00046}, small, 9000);
}
