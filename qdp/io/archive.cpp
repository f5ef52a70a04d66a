#include "qdp/io/archive.hpp"

#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <sstream>

#include "qdp/io/field_stream.hpp"
#include "qdp/io/nersc.hpp"
#include "qdp/io/stdio.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/types/functions.hpp"
#include "qdp/types/reductions.hpp"
#include "qdp/types/shift.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

namespace {

std::string now() {
  const std::time_t t = std::time(nullptr);
  char text[64];
  std::tm parts{};
  std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", gmtime_r(&t, &parts));
  return text;
}

std::vector<jit::Field*> links(const multi1d<LatticeColorMatrix>& u) {
  if (u.size() != 4)
    throw jit::UserError({.what = "NERSC archive",
                          .expected = "the 4 directions of a gauge field",
                          .got = std::to_string(u.size()) + " fields"});
  std::vector<jit::Field*> fields;
  for (int mu = 0; mu < u.size(); ++mu) fields.push_back(u[mu].field().get());
  return fields;
}

template <class To, class From> To array_of(const From& from) {
  To to(from.size());
  for (int i = 0; i < static_cast<int>(from.size()); ++i) to[i] = from[i];
  return to;
}

ArchivGauge_t from_header(const io::NerscHeader& h) {
  ArchivGauge_t a;
  a.nrow = array_of<multi1d<int>>(h.nrow), a.boundary = array_of<multi1d<int>>(h.boundary);
  a.w_plaq = h.w_plaq, a.link = h.link, a.mat_size = h.mat_size, a.float_size = h.float_size, a.checksum = h.checksum;
  a.sequence_number = h.sequence_number, a.ensemble_id = h.ensemble_id, a.ensemble_label = h.ensemble_label;
  a.creator = h.creator, a.creator_hardware = h.creator_hardware, a.creation_date = h.creation_date,
  a.archive_date = h.archive_date;
  return a;
}
io::NerscHeader to_header(const ArchivGauge_t& a) {
  io::NerscHeader h;
  h.nrow = array_of<std::vector<int>>(a.nrow), h.boundary = array_of<std::vector<int>>(a.boundary);
  h.w_plaq = toDouble(a.w_plaq), h.link = toDouble(a.link), h.mat_size = a.mat_size, h.float_size = a.float_size;
  h.sequence_number = a.sequence_number, h.ensemble_id = a.ensemble_id, h.ensemble_label = a.ensemble_label;
  h.creator = a.creator, h.creator_hardware = a.creator_hardware, h.creation_date = a.creation_date,
  h.archive_date = a.archive_date;
  h.has_plaquette = h.has_link_trace = true;
  return h;
}

}  // namespace

ArchivGauge_t::ArchivGauge_t()
    : nrow(Layout::lattSize()),
      boundary(4),
      w_plaq(0),
      link(0),
      mat_size(12),
      float_size(4),
      checksum(0),
      sequence_number(0),
      ensemble_label("NERSC archive"),
      creator("QDP++"),
      creator_hardware("QDP++"),
      creation_date(io::once(now)),
      archive_date(creation_date) {
  boundary = 1;
  ensemble_id = "X" + creation_date;
}

void read(XMLReader& xml, const std::string& path, ArchivGauge_t& h) {
  XMLReader top(xml, path);
  read(top, "mat_size", h.mat_size);
  read(top, "float_size", h.float_size);
  read(top, "nrow", h.nrow);
  read(top, "boundary", h.boundary);
  read(top, "ensemble_id", h.ensemble_id);
  read(top, "ensemble_label", h.ensemble_label);
  read(top, "creator", h.creator);
  read(top, "creator_hardware", h.creator_hardware);
  read(top, "creation_date", h.creation_date);
  read(top, "archive_date", h.archive_date);
  read(top, "w_plaq", h.w_plaq);
  read(top, "link", h.link);
  read(top, "sequence_number", h.sequence_number);
  if (top.count("checksum") == 0) return;  // as Tessera left it out once
  std::string hex;
  read(top, "checksum", hex);
  const auto [end, failure] = std::from_chars(hex.data(), hex.data() + hex.size(), h.checksum, 16);
  if (failure != std::errc() || end != hex.data() + hex.size())
    throw jit::UserError({.what = "checksum of an archive's header",
                          .expected = "32 bits in hexadecimal",
                          .got = "\"" + hex + "\"",
                          .where = path});
}

void write(XMLWriter& xml, const std::string& path, const ArchivGauge_t& h) {
  push(xml, path);
  write(xml, "mat_size", static_cast<unsigned long>(h.mat_size));
  write(xml, "float_size", static_cast<unsigned long>(h.float_size));
  write(xml, "nrow", h.nrow);
  write(xml, "boundary", h.boundary);
  write(xml, "w_plaq", h.w_plaq);
  write(xml, "link", h.link);
  write(xml, "ensemble_id", h.ensemble_id);
  write(xml, "ensemble_label", h.ensemble_label);
  write(xml, "creator", h.creator);
  write(xml, "creator_hardware", h.creator_hardware);
  write(xml, "creation_date", h.creation_date);
  write(xml, "archive_date", h.archive_date);
  write(xml, "sequence_number", h.sequence_number);
  char hex[9];
  std::snprintf(hex, sizeof hex, "%" PRIx32, h.checksum);
  write(xml, "checksum", std::string(hex));
  pop(xml);
}

QDPUtil::n_uint32_t computeChecksum(const multi1d<LatticeColorMatrix>& u, int mat_size) {
  io::FieldSource source(links(u));
  std::uint32_t sum = 0;
  io::on_primary_with(
      source, [&] { sum = io::nersc_checksum(source, io::lattice_geometry(), static_cast<std::size_t>(mat_size), 4); });
  io::broadcast(sum);
  return sum;
}

namespace {

/// Averages of Re tr U_p / Nc and Re tr U / Nc.
struct Observables {
  double plaquette = 0, link = 0;

  explicit Observables(const multi1d<LatticeColorMatrix>& u) {
    for (int mu = 0; mu < Nd; ++mu) {
      link += toDouble(sum(real(trace(u[mu]))));
      for (int nu = 0; nu < mu; ++nu)
        plaquette +=
            toDouble(sum(real(trace(u[mu] * shift(u[nu], FORWARD, mu) * adj(u[nu] * shift(u[mu], FORWARD, nu))))));
    }
    const double links = static_cast<double>(Layout::vol()) * Nc * Nd;
    link /= links;
    plaquette /= links * (Nd - 1) / 2;
  }
};

/// What in the header does not fit the links; empty if all does.
std::string differences(const io::NerscHeader& h, const io::ReadReport& report, const multi1d<LatticeColorMatrix>& u) {
  std::string text;
  const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  if (!h.has_checksum)
    add("no CHECKSUM in the header");
  else if (!report.good())
    add("checksum " + report.stored + " in the header, " + report.computed + " of the links");
  const double rounding = h.float_size == 4 || sizeof(REAL) == 4 ? 1e-5 : 1e-8;
  const Observables of_links(u);
  const auto compare = [&](const std::string& name, bool there, double in_header, double step, double value) {
    std::ostringstream words;
    words.precision(12);
    if (!there)
      words << "no " << name << " in the header";
    else if (!(std::abs(in_header - value) <= rounding + 1.01 * step))
      words << name << ' ' << in_header << " in the header, " << value << " of the links";
    if (!words.str().empty()) add(words.str());
  };
  compare("PLAQUETTE", h.has_plaquette, h.w_plaq, h.w_plaq_step, of_links.plaquette);
  compare("LINK_TRACE", h.has_link_trace, h.link, h.link_step, of_links.link);
  return text;
}

}  // namespace

std::string readArchiv(ArchivGauge_t& header, multi1d<LatticeColorMatrix>& u, const std::string& file,
                       OnDamage on_damage) {
  const io::NerscHeader h = io::once([&] { return io::read_nersc_header(file); });
  u.resize(Nd);
  io::ReadReport report;
  {
    io::FieldSink sink(links(u));
    io::on_primary_with(sink, [&] { report = io::read_nersc(file, h, io::lattice_geometry(), sink); });
    broadcast(report);
  }
  const std::string wrong = differences(h, report, u);
  if (!wrong.empty() && on_damage == OnDamage::refuse)
    throw jit::UserError(
        {.what = "reading gauge field \"" + file + "\"",
         .expected = "the links that the header describes",
         .got = wrong,
         .what_now =
             "The file is damaged: fetch it again (to read it all the same: <verify_checksum>false</verify_checksum> in the "
             "input, OnDamage::read in C++)"});
  if (!wrong.empty()) QDPIO::cerr << "warning: " << file << ": " << wrong << "; read all the same\n";
  header = from_header(h);
  return wrong.empty() ? "verified" : "wrong: " + wrong;
}
std::string readArchiv(XMLReader& xml, multi1d<LatticeColorMatrix>& u, const std::string& file, OnDamage on_damage) {
  ArchivGauge_t header;
  const std::string verdict = readArchiv(header, u, file, on_damage);
  XMLBufferWriter out;
  write(out, "NERSC", header);
  xml.open(out);
  return verdict;
}
std::string readArchiv(multi1d<LatticeColorMatrix>& u, const std::string& file, OnDamage on_damage) {
  ArchivGauge_t header;
  return readArchiv(header, u, file, on_damage);
}

void writeArchiv(ArchivGauge_t& header, const multi1d<LatticeColorMatrix>& u, const std::string& file) {
  const Observables of_links(u);
  header.w_plaq = of_links.plaquette;
  header.link = of_links.link;
  io::NerscHeader h = to_header(header);
  io::FieldSource source(links(u));
  io::on_primary_with(source, [&] { io::write_nersc(file, h, source); });
  io::broadcast(h.checksum);
  header.checksum = h.checksum;
}
void writeArchiv(XMLBufferWriter& xml, const multi1d<LatticeColorMatrix>& u, const std::string& file) {
  ArchivGauge_t header;
  XMLReader in(xml);
  read(in, "/NERSC", header);
  writeArchiv(header, u, file);
}
void writeArchiv(const multi1d<LatticeColorMatrix>& u, const std::string& file) {
  ArchivGauge_t header;
  writeArchiv(header, u, file);
}

}  // namespace QDP
