// What the tests of measurements share: running an input, and reading what it wrote.
#pragma once

#include "lib/meas/inline.hpp"
#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace tests {

/// The errors of a list of measurements, one string each; none if it is good.
inline std::vector<std::string> measurement_errors(const std::string& measurements) {
  const qcd::InputFile file = input("<in><InlineMeasurements>" + measurements + "</InlineMeasurements></in>");
  qcd::read_measurements(file.root());
  return file.errors();
}

/// Each record says which update it is of, and these what was asked for and of which field.
inline void check_headings(const std::string& out, unsigned long update_no) {
  std::istringstream stream(out);
  QDP::XMLReader xml(stream);
  CHECK(xml.count("/out/elem[not(xml_file)]/*[not(update_no = " + std::to_string(update_no) + ")]") == 0);
  for (const char* name :
       {"ChiralCondensate", "EigBndsMdagM", "linksmear", "CoulGauge", "hadspec", "MesonSpectrum", "SpectrumStag"}) {
    CAPTURE(name);
    CHECK(xml.count(std::string("/out/elem/") + name + "[not(Input)]") == 0);
  }
  for (const char* name : {"linksmear", "CoulGauge", "WilsonLoop", "hadspec", "MesonSpectrum", "make_source",
                           "propagator", "sink_smear"}) {
    CAPTURE(name);
    CHECK(xml.count(std::string("/out/elem/") + name + "[not(Observables/w_plaq)]") == 0);
  }
}

/// Runs a list of measurements on `u` and returns what they wrote, in an element <out>. Throws InputError for errors in
/// the list.
inline std::string run_measurements(const std::string& measurements, const GaugeField& u, unsigned long update_no = 0) {
  const qcd::InputFile file = input("<in><InlineMeasurements>" + measurements + "</InlineMeasurements></in>");
  const auto list = qcd::read_measurements(file.root());
  file.require_valid();
  QDP::XMLBufferWriter out;
  QDP::push(out, "out");
  qcd::run_measurements(list, update_no, u, qcd::Log{&out});
  QDP::pop(out);
  check_headings(out.str(), update_no);
  return out.str();
}

/// One measurement of a list.
inline std::string measurement(const std::string& name, const std::string& content) {
  return "<elem><Name>" + name + "</Name>" + content + "</elem>";
}

/// Reads an output by XPath.
class Output {
 public:
  explicit Output(const std::string& text) : stream_(text), xml_(stream_) {}

  double number(const std::string& path) {
    double value = 0;
    QDP::read(xml_, path, value);
    return value;
  }
  std::vector<double> numbers(const std::string& path) {
    QDP::multi1d<double> values;
    QDP::read(xml_, path, values);
    std::vector<double> list;
    for (int i = 0; i < values.size(); ++i) list.push_back(values[i]);
    return list;
  }
  std::string text(const std::string& path) {
    std::string value;
    QDP::read(xml_, path, value);
    return value;
  }
  int count(const std::string& path) { return xml_.count(path); }

 private:
  std::istringstream stream_;
  QDP::XMLReader xml_;
};

}  // namespace tests
