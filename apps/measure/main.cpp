// measure: measurements on one gauge field from an XML input.
//
//   measure -i in.xml [-o out.xml] [-l log.xml]      run            measure --check in.xml      only read the input
//
// Exit status: 0 done, 1 anything else; of --check 0, 1 for errors, 2 if something in the input has no effect, or will not
// fit in memory.
// SIGTERM, SIGUSR1, SIGHUP, SIGXCPU or the first SIGINT finish the present measurement; the documents are complete up to
// there, and the status is 1.

#include "apps/common/arguments.hpp"
#include "apps/common/program.hpp"
#include "apps/common/signals.hpp"

#include "lib/gauge/su3.hpp"
#include "lib/meas/inline.hpp"
#include "lib/meas/parameters.hpp"

#include <cstdio>

namespace {

void print_seconds(const std::string& what, double seconds) {
  char text[160];
  std::snprintf(text, sizeof text, "%-28s %8.2f s\n", what.c_str(), seconds);
  QDP::QDPIO::cout << text;
  QDP::QDPIO::cout.flush();
}

/// One line per measurement on the terminal, one element in the log.
qcd::MeasurementObserver progress(QDP::XMLFileWriter& log) {
  qcd::MeasurementObserver observer;
  observer.stop = common::stop_requested;
  observer.after = [&log](const qcd::ScheduledMeasurement& done, double seconds) {
    print_seconds(done.name, seconds);
    QDP::push(log, "elem");
    QDP::write(log, "Name", done.name);
    QDP::write(log, "seconds", seconds);
    QDP::pop(log);
    log.flush();
  };
  return observer;
}

int run(const common::Arguments& arguments) {
  const qcd::InputFile file(arguments.input);
  if (file.root_name() != "chroma")
    throw qcd::InputError(arguments.input + ": expected the root element chroma, got " + file.root_name());
  const qcd::MeasureParameters parameters = qcd::read_measure_parameters(file.root());
  file.require_valid();
  const std::vector<std::string> remarks = common::remarks_on(file, parameters.lattice, parameters.memory);
  if (arguments.check_only) {
    QDP::QDPIO::cout << arguments.input << ": valid; " << static_cast<int>(parameters.measurements.size())
                     << " measurement(s)\n";
    return common::report_remarks(remarks);
  }
  common::print_header();
  common::warn_of_remarks(arguments.input, remarks);
  common::create_layout(parameters.lattice);
  common::require_free_documents(arguments, arguments.overwrite);
  common::Document out(arguments.data, "chroma", file.root()), log(arguments.log, "measure", file.root());
  const qcd::GaugeField u = qcd::start_measurements(parameters, qcd::Log{&out.xml});
  out.xml.flush();
  common::catch_stop_signals("measure", "this measurement");
  std::size_t left = 0;
  {
    const qcd::Log output{&out.xml}, times{&log.xml};
    const auto observables = output.group("InlineObservables");
    const auto list = times.group("Measurements");
    left = qcd::run_measurements(parameters.measurements, 0, u, output, parameters.config_xml, progress(log.xml));
  }
  if (left > 0) qcd::Log{&out.xml, &log.xml}.write("MeasurementsNotDone", static_cast<int>(left));
  out.close();
  log.close();
  QDP::QDPIO::cout << "output  " << arguments.data << "\n";
  if (left > 0)
    QDP::QDPIO::cerr << "measure: stopped by signal, " << static_cast<int>(left) << " of "
                     << static_cast<int>(parameters.measurements.size()) << " measurements not done\n";
  return left == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const common::ProgramTexts texts{.name = "measure",
                                   .about = "Measurements on a gauge field, steered by an XML input.",
                                   .update = {},
                                   .data = "what the measurements write",
                                   .log = "the seconds of each measurement",
                                   .input_help = qcd::measurement_help};
  const common::Arguments arguments = common::read_arguments(texts, argc, argv);
  if (arguments.exit_now) return arguments.exit_status;
  return common::run_program("measure", argc, argv, [&] { return run(arguments); });
}
