// Gauge fields in NERSC archives: what the header says of the links is filled in, compared, and refused if it does not fit.

#include "qdp.h"
#include "tests/qdp/gauge_file_fixture.hpp"

#include <doctest/doctest.h>

#include <cstring>

#if QDP_ND == 4 && QDP_NC == 3  // all that the format knows

using namespace QDP;
using tests::contains;
using tests::message_of;
using tests::read_bytes;
using tests::TemporaryFolder;
using tests::write_bytes;

namespace {

const io::SiteGeometry kLattice{{2, 4, 2, 6}};

void make_lattice() {
  multi1d<int> nrow(Nd);
  for (int mu = 0; mu < Nd; ++mu) nrow[mu] = kLattice.extents[static_cast<std::size_t>(mu)];
  tests::must_share_out(kLattice.extents.data());
  Layout::setLattSize(nrow);
  Layout::create();
}

/// Random SU(3) links, and the same words on the host.
struct Field {
  std::vector<double> words = tests::random_gauge_field<double>(kLattice);
  multi1d<LatticeColorMatrix> u;

  Field() {
    make_lattice();
    u.resize(Nd);
    for (int rank = 0; rank < static_cast<int>(Layout::vol()); ++rank) {
      const multi1d<int> x = crtesn(rank, Layout::lattSize());
      for (int mu = 0; mu < Nd; ++mu) {
        ColorMatrix m;
        for (int r = 0; r < Nc; ++r)
          for (int c = 0; c < Nc; ++c) {
            const double* z = &words[static_cast<std::size_t>((rank * 4 + mu) * 18 + 2 * (3 * r + c))];
            pokeColor(m, cmplx(Real(z[0]), Real(z[1])), r, c);
          }
        pokeSite(u[mu], m, x);
      }
    }
  }
};

/// The file's header with `line` in place of the line of that name, or without it.
std::string with_line(std::string bytes, const std::string& name, const std::string& line) {
  const auto begin = bytes.find("\n" + name + " = ") + 1, end = bytes.find('\n', begin) + 1;
  return bytes.replace(begin, end - begin, line.empty() ? "" : name + " = " + line + "\n");
}

std::string value(const std::string& bytes, const std::string& name) {
  const auto begin = bytes.find("\n" + name + " = ") + name.size() + 4;
  return bytes.substr(begin, bytes.find('\n', begin) - begin);
}

std::string refusal(const std::string& path) {
  multi1d<LatticeColorMatrix> u(Nd);
  return message_of<jit::UserError>([&] { readArchiv(u, path); });
}

void exchange_words(std::string& bytes, std::size_t at, std::size_t other) {
  for (std::size_t i = 0; i < 4; ++i) std::swap(bytes[at + i], bytes[other + i]);
}

}  // namespace

TEST_CASE("writeArchiv fills in plaquette and link trace, which are those of plain loops") {
  const Field field;
  const TemporaryFolder folder;
  const std::string path = folder.file("u.nersc");
  const tests::PlainGaugeField plain(kLattice, field.words);
  writeArchiv(field.u, path);
  const std::string bytes = read_bytes(path);
  CHECK(std::stod(value(bytes, "PLAQUETTE")) == doctest::Approx(plain.plaquette()).epsilon(1e-6));
  CHECK(std::stod(value(bytes, "LINK_TRACE")) == doctest::Approx(plain.link_trace()).epsilon(1e-6));
  ArchivGauge_t header;
  header.w_plaq = 17;  // whatever the caller believes
  writeArchiv(header, field.u, path);
  CHECK(toDouble(header.w_plaq) == doctest::Approx(plain.plaquette()).epsilon(1e-6));
  CHECK(read_bytes(path) == with_line(with_line(with_line(bytes, "ENSEMBLE_ID", value(read_bytes(path), "ENSEMBLE_ID")),
                                                "CREATION_DATE", value(read_bytes(path), "CREATION_DATE")),
                                      "ARCHIVE_DATE", value(read_bytes(path), "ARCHIVE_DATE")));
  multi1d<LatticeColorMatrix> back(Nd);
  ArchivGauge_t of_file;
  CHECK(readArchiv(of_file, back, path) == "verified");
  CHECK(header.checksum == of_file.checksum);
  CHECK(header.checksum != 0);
}

TEST_CASE("a header that does not describe the links is refused, and read all the same if told so") {
  const Field field;
  const TemporaryFolder folder;
  const std::string path = folder.file("u.nersc");
  writeArchiv(field.u, path);
  const std::string whole = read_bytes(path);
  const auto refused = [&](const std::string& bytes, const std::string& word) {
    CAPTURE(word);
    write_bytes(path, bytes);
    const std::string message = refusal(path);
    CHECK(contains(message, path));
    CHECK(contains(message, word));
    multi1d<LatticeColorMatrix> u(Nd);
    std::string verdict;
    CHECK_NOTHROW(verdict = readArchiv(u, path, OnDamage::read));
    CHECK(contains(verdict, word));
  };
  refused(with_line(whole, "CHECKSUM", ""), "no CHECKSUM");
  refused(with_line(whole, "PLAQUETTE", ""), "no PLAQUETTE");
  refused(with_line(whole, "LINK_TRACE", ""), "no LINK_TRACE");
  refused(with_line(whole, "PLAQUETTE", "0"), "PLAQUETTE 0 in the header");
  refused(with_line(whole, "LINK_TRACE", "0.5"), "LINK_TRACE 0.5 in the header");
  refused(with_line(whole, "CHECKSUM", "12345678"), "checksum 12345678");
  write_bytes(path, with_line(whole, "CHECKSUM", "1234567g"));
  CHECK(contains(refusal(path), "hexadecimal"));
  write_bytes(path, whole);
  CHECK(refusal(path).empty());
}

TEST_CASE("words that changed places pass the NERSC checksum and are found by the plaquette, or by the site checksum") {
  const Field field;
  const TemporaryFolder folder;
  const std::string path = folder.file("u.nersc");
  writeArchiv(field.u, path);
  std::string bytes = read_bytes(path);
  const std::size_t data = bytes.find("END_HEADER\n") + 11;
  exchange_words(bytes, data + 400, data + 1600);
  write_bytes(path, bytes);
  CHECK(contains(refusal(path), "checksum"));
  write_bytes(path, with_line(bytes, "SITE_CHECKSUM", ""));  // as other programs write
  CHECK(contains(refusal(path), "got PLAQUETTE"));
}

TEST_CASE("values rounded by other programs fit: six digits, or single precision") {
  const Field field;
  const TemporaryFolder folder;
  const std::string path = folder.file("u.nersc");
  ArchivGauge_t header;
  for (std::size_t float_size : {4, 8}) {
    header.float_size = float_size;
    header.mat_size = 18;
    writeArchiv(header, field.u, path);
    const std::string whole = read_bytes(path);
    const double plaquette = std::stod(value(whole, "PLAQUETTE"));
    const auto with = [&](const char* format, double x) {
      char text[40];
      std::snprintf(text, sizeof text, format, x);
      write_bytes(path, with_line(whole, "PLAQUETTE", text));
      return refusal(path).empty();
    };
    CHECK(with("%.6f", plaquette));
    CHECK(with("%.6e", plaquette));
    CHECK(with("%.4f", plaquette));
    CHECK(with("%.12g", plaquette + 3e-6) == (float_size == 4));
    CHECK_FALSE(with("%.12g", plaquette + 3e-5));
  }
}

TEST_CASE("folders, pipes and devices are no files to read, and nobody waits for them") {
  make_lattice();
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(tests::on_first_rank([&] { return ::system(("mkfifo " + pipe).c_str()); }) == 0);
  XMLReader xml;
  for (const std::string& path : {folder.file("."), pipe, std::string("/dev/zero"), std::string("/dev/null")}) {
    CAPTURE(path);
    CHECK(contains(message_of<XMLError>([&] { xml.open(path); }), path));
    CHECK(contains(message_of<jit::UserError>([&] { read_whole_file(path); }), "regular file"));
    CHECK(contains(refusal(path), "regular file"));
    CHECK_FALSE(why_unreadable(path).empty());
  }
  CHECK(why_unreadable(folder.file(".")) == "a folder");
  CHECK(why_unreadable(pipe) == "a pipe");
  write_bytes(pipe + "2", "text");
  CHECK(why_unreadable(pipe + "2").empty());
  CHECK(read_whole_file(pipe + "2") == "text");
}

#endif
