#include <filesystem>
#include <type_traits>

#include "apps/bench/fields.hpp"
#include "apps/bench/suites.hpp"
#include "qdp/util/primary.hpp"

namespace bench {
namespace {

using namespace QDP;

template <class Object>
void to_and_from_file(Session& session, const std::string& name, const Work& work, const std::string& path,
                      Object& object) {
  XMLBufferWriter xml;
  push(xml, "bench"), pop(xml);
  session.run("write_" + name, work, [&] {
    QDPFileWriter file(xml, path, QDPIO_SINGLEFILE, QDPIO_PARALLEL);
    write(file, xml, object);
    close(file);
  });
  session.run("read_" + name, work, [&] {
    XMLReader file_xml, record_xml;
    QDPFileReader file(file_xml, path, QDPIO_PARALLEL);
    read(file, record_xml, object);
  });
  io::on_primary([&] { std::filesystem::remove(path); });
}

template <class P>
void io_of(Session& session, const std::string& path) {
  {
    multi1d<typename P::ColorMatrix> u(Nd);
    for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
    to_and_from_file(session, "links", {.words = 72}, path, u);
  }
  std::conditional_t<std::is_same_v<P, SingleFields>, LatticePropagatorF, LatticePropagatorD> quarks;
  gaussian(quarks);
  to_and_from_file(session, "propagator", {.words = 288}, path, quarks);
}

}  // namespace

void run_io(Session& session, Precision precision, const std::string& folder) {
  const std::string path = folder + "/tessera_bench_io.lime";
  precision == Precision::kSingle ? io_of<SingleFields>(session, path) : io_of<DoubleFields>(session, path);
}

}  // namespace bench
