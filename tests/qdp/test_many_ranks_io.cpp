// Files of lattices that are shared out over ranks: whatever the grid of ranks, they have the bytes that one rank writes,
// and what they hold arrives at the same sites; whatever goes wrong, every rank throws the same.
#include <doctest/doctest.h>

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "jit/comm/forwarded_ranks.hpp"
#include "jit/support/log.hpp"
#include "qdp.h"
#include "qdp/io/field_stream.hpp"
#include "qdp/io/ildg.hpp"
#include "qdp/io/scidac.hpp"
#include "tests/divided_file.hpp"
#include "tests/grid_of_ranks.hpp"
#include "tests/message_of.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/ranks.hpp"
#include "tests/sizes.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

using namespace QDP;
using tests::contains;
using tests::Extents;
using tests::TemporaryFolder;

namespace {

const Extents kOne{1, 1, 1, 1};
const std::vector<Extents> kGrids{{1, 1, 1, 2}, {2, 1, 1, 1}, {2, 2, 1, 1}, {4, 1, 1, 1}, {2, 1, 1, 2}, {1, 2, 2, 1}};

/// From here on the ranks of this process cannot open files together: one of them reads and writes.
void without_files() {
  struct WithoutFiles : jit::ForwardedRanks {
    using ForwardedRanks::ForwardedRanks;
    std::unique_ptr<jit::SharedFile> open_file(const std::string&, bool, std::string& why_not) override {
      why_not = "the test says so";
      return nullptr;
    }
  };
  auto ranks = jit::replace_process_communicator(nullptr);
  jit::replace_process_communicator(std::make_unique<WithoutFiles>(std::move(ranks)));
}

/// What the ranks of a grid return, each of which has made the lattice.
template <class Result>
std::vector<std::vector<Result>> on_grid(const Extents& extents, const Extents& grid,
                                         const std::function<std::vector<Result>()>& body) {
  return tests::on_ranks<Result>(tests::ranks_of(grid), [&](jit::Communicator&) {
    tests::share_out(grid);
    tests::create_lattice(extents);
    return body();
  });
}

/// How much the ranks of a grid have found wrong.
int faults_on(const Extents& extents, const Extents& grid, const std::function<int()>& body) {
  int faults = 0;
  for (const auto& of_rank : on_grid<int>(extents, grid, [&] { return std::vector{body()}; })) faults += of_rank.at(0);
  return faults;
}

/// The text of what each rank has thrown.
std::vector<std::string> messages_on(const Extents& extents, const Extents& grid, const std::function<void()>& body) {
  std::vector<std::string> texts;
  for (const auto& of_rank : on_grid<char>(extents, grid, [&] {
         std::string text = tests::message_of(body);
         // The ranks are still in step, and the language works.
         LatticeReal one = Real(1);
         if (toDouble(sum(shift(one, FORWARD, 0))) != static_cast<double>(Layout::vol())) text += " and a wrong sum";
         return std::vector<char>(text.begin(), text.end());
       }))
    texts.emplace_back(of_rank.begin(), of_rank.end());
  return texts;
}

/// Words that are functions of their site's number in the whole lattice and of their place there.
template <class Word> Word word_at(std::uint64_t site, std::size_t place, int field) {
  std::uint64_t x = 1 + site * 1009 + place * 7919 + static_cast<std::uint64_t>(field) * 104729;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  if constexpr (std::is_same_v<Word, bool>)
    return x & 1;
  else if constexpr (std::is_integral_v<Word>)
    return static_cast<Word>(x & 0x7fffffff);
  else
    return static_cast<Word>(x & 0xfffff) / Word(0x80000) - 1;
}

template <class T, class Visit> void for_each_word(const OLattice<T>& x, Visit visit) {
  using Word = typename detail::host_word<detail::shape_of<T>.word>::type;
  for (int site = 0; site < Layout::sitesOnNode(); ++site) {
    const multi1d<int> coord = Layout::siteCoords(Layout::nodeNumber(), site);
    const auto number = static_cast<std::uint64_t>(local_site(coord, Layout::lattSize()));
    auto* words = reinterpret_cast<Word*>(const_cast<T*>(&x.elem(site)));
    for (std::size_t i = 0; i < sizeof(T) / sizeof(Word); ++i) visit(coord, number, i, words[i]);
  }
}
template <class T> void fill(OLattice<T>& x, int field = 0) {
  x.elem(0) = x.elem(0);  // the host side is written from here on
  for_each_word(x, [&](const multi1d<int>&, std::uint64_t site, std::size_t i, auto& word) {
    word = word_at<std::remove_reference_t<decltype(word)>>(site, i, field);
  });
}
/// Words that are not what fill() wrote; of the box alone, if there is one.
template <class T> int wrong(const OLattice<T>& x, int field = 0, const multi1d<int>* lower = nullptr,
                             const multi1d<int>* upper = nullptr) {
  int count = 0;
  for_each_word(x, [&](const multi1d<int>& coord, std::uint64_t site, std::size_t i, auto& word) {
    bool inside = true;
    for (int mu = 0; lower && mu < Nd; ++mu) inside = inside && coord[mu] >= (*lower)[mu] && coord[mu] <= (*upper)[mu];
    using Word = std::remove_reference_t<decltype(word)>;
    count += word != (inside ? word_at<Word>(site, i, field) : Word(0));
  });
  return count;
}
template <class X> int wrong(const multi1d<X>& x) {
  int count = 0;
  for (int i = 0; i < x.size(); ++i) count += wrong(x[i], i);
  return count;
}
multi1d<LatticeColorMatrix> links() {
  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) fill(u[mu], mu);
  return u;
}

/// Matrices of SU(3) with products that are exact: a third row comes back to the bit.
multi1d<LatticeColorMatrix> exact_links() {
  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    u[mu].elem(0) = u[mu].elem(0);
    for_each_word(u[mu], [&](const multi1d<int>&, std::uint64_t site, std::size_t i, auto& word) {
      const int row = static_cast<int>(i / 6), column = static_cast<int>(i / 2 % 3),
                imaginary = static_cast<int>(i % 2);
      const int kind = word_at<int>(site, 0, mu) % 3;
      int x = 0;
      if (kind == 2)
        x = column == (row + 1) % 3 && !imaginary;  // a cyclic permutation
      else if (row == column)
        x = kind == 0 ? 1 - imaginary : row < 2 ? imaginary : imaginary - 1;  // 1 or diag(i, i, -1)
      word = static_cast<REAL>(x);
    });
  }
  return u;
}

XMLBufferWriter document(const std::string& name) {
  XMLBufferWriter xml;
  push(xml, name), write(xml, "rank_of_the_writer", 0), pop(xml);
  return xml;
}

/// A box that is no union of ranks' boxes.
void box(multi1d<int>& lower, multi1d<int>& upper) {
  lower.resize(Nd), upper.resize(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    lower[mu] = Layout::lattSize()[mu] > 2 ? 1 : 0;
    upper[mu] = std::max(lower[mu], Layout::lattSize()[mu] - 2);
  }
}

constexpr bool kQcd = Nd == 4 && Nc == 3;

/// A file in each format. Returns what went wrong.
int write_files(const TemporaryFolder& folder) {
  int faults = 0;
  const multi1d<LatticeColorMatrix> u = links();
  LatticeFermion psi;
  LatticeColorMatrixF single;
  LatticeInteger number;
  LatticeBoolean flag;
  fill(psi), fill(single), fill(number), fill(flag);
  {
    XMLBufferWriter file_xml = document("file"), record_xml = document("record");
    QDPFileWriter file(file_xml, folder.file("scidac"), QDPIO_SINGLEFILE, QDPIO_SERIAL);
    write(file, record_xml, u);
    faults += file.checksum().empty();
    write(file, record_xml, psi);
    write(file, record_xml, single);
    write(file, record_xml, number);
    multi1d<Real> numbers(3);
    for (int i = 0; i < 3; ++i) numbers[i] = 1.5 * i;
    write(file, record_xml, numbers);
    BinaryBufferWriter bytes;
    write(bytes, std::string("some bytes")), write(bytes, number);
    write(file, record_xml, bytes);
    multi1d<int> lower, upper;
    box(lower, upper);
    file.write(record_xml, psi, lower, upper);
    close(file);
  }
  {
    XMLBufferWriter file_xml = document("file"), record_xml = document("more");
    QDPFileWriter file(file_xml, folder.file("scidac"), QDPIO_SINGLEFILE, QDPIO_SERIAL, QDPIO_APPEND);
    write(file, record_xml, psi);
  }  // its end closes it
  {
    BinaryFileWriter file(folder.file("binary"));
    write(file, 17);
    write(file, psi);
    write(file, flag);
    multi1d<int> site(Nd);
    for (int mu = 0; mu < Nd; ++mu) site[mu] = Layout::lattSize()[mu] - 1;
    write(file, number, site);
    write(file, static_cast<int>(file.getChecksum()));
    LocalBinaryBufferWriter local;
    write(local, number);
    write(file, local.str());
    file.close();
  }
  XMLFileWriter xml(folder.file("xml"));
  push(xml, "fields"), write(xml, "number", number), write(xml, "psi", psi), pop(xml);
  xml.close();
  XMLBufferWriter buffer;
  push(buffer, "field"), write(buffer, "number", number), pop(buffer);
  write_whole_file(folder.file("xml_of_buffer"), buffer.str());
  if constexpr (kQcd) {
    ArchivGauge_t header;
    header.mat_size = 18, header.float_size = sizeof(REAL);
    header.creation_date = header.archive_date = "today", header.ensemble_id = "X";
    writeArchiv(header, u, folder.file("nersc"));
    ArchivGauge_t two_rows;
    two_rows.creation_date = two_rows.archive_date = "today", two_rows.ensemble_id = "X";
    writeArchiv(two_rows, exact_links(), folder.file("nersc_two_rows"));
    std::vector<jit::Field*> fields;
    for (int mu = 0; mu < Nd; ++mu) fields.push_back(u[mu].field().get());
    io::FieldSource source(fields);
    io::on_primary_with(source, [&] {
      io::write_ildg(folder.file("ildg"), io::lattice_geometry(), io::file_word(fields[0]->word()), "lfn://x", source);
    });
    write_whole_file(folder.file("sum"),
                     std::to_string(computeChecksum(u, 12)) + " " + std::to_string(header.checksum));
  }
  return faults;
}

const std::vector<std::string>& names() {
  static const std::vector<std::string> all =
      kQcd ? std::vector<std::string>{"scidac", "binary",         "xml",  "xml_of_buffer",
                                      "nersc",  "nersc_two_rows", "ildg", "sum"}
           : std::vector<std::string>{"scidac", "binary", "xml", "xml_of_buffer"};
  return all;
}

/// Reads what write_files() wrote. Returns how many words, texts and verdicts are wrong.
int read_files(const TemporaryFolder& folder) {
  int faults = 0;
  multi1d<LatticeColorMatrix> u;
  LatticeFermion psi;
  LatticeColorMatrixF single;
  LatticeInteger number;
  LatticeBoolean flag;
  {
    XMLReader file_xml, record_xml;
    QDPFileReader file(file_xml, folder.file("scidac"), QDPIO_SERIAL);
    const auto check = [&](int words, const char* root = "record") {
      faults += words + (file.verdict() != "verified") + file.bad() + (record_xml.count(std::string("/") + root) != 1);
    };
    faults += file_xml.count("/file/rank_of_the_writer") != 1;
    read(file, record_xml, u);
    check(wrong(u) + (u.size() != Nd));
    read(file, record_xml, psi);
    check(wrong(psi));
    read(file, record_xml, single);
    check(wrong(single));
    read(file, record_xml, number);
    check(wrong(number));
    multi1d<Real> numbers;
    read(file, record_xml, numbers);
    check(numbers.size() != 3 || toDouble(numbers[2]) != 3);
    BinaryBufferReader bytes;
    read(file, record_xml, bytes);
    std::string text;
    bytes.read(text, 100);
    number = zero;
    read(bytes, number);
    check(wrong(number) + (text != "some bytes"));
    multi1d<int> lower, upper;
    box(lower, upper);
    psi = zero;
    read(file, record_xml, psi);
    check(wrong(psi, 0, &lower, &upper));
    faults += file.eof();
    read(file, record_xml, psi);
    check(wrong(psi), "more");
    faults += !file.eof() + !contains(tests::message_of([&] { read(file, record_xml, psi); }), "8 records");
  }
  {
    BinaryFileReader file(folder.file("binary"));
    int word = 0, checksum = 0;
    read(file, word);
    psi = zero, flag = false, number = zero;
    read(file, psi);
    read(file, flag);
    multi1d<int> site(Nd);
    for (int mu = 0; mu < Nd; ++mu) site[mu] = Layout::lattSize()[mu] - 1;
    read(file, number, site);
    faults += (word != 17) + wrong(psi) + wrong(flag) + (static_cast<int>(file.getChecksum()) == 0);
    faults += toInt(peekSite(number, site)) != word_at<int>(Layout::vol() - 1, 0, 0);
    const auto so_far = static_cast<int>(file.getChecksum());
    read(file, checksum);
    faults += checksum != so_far;
    read(file, number);
    faults += wrong(number);
  }
  if constexpr (kQcd) {
    ArchivGauge_t header;
    u.resize(0);
    faults += readArchiv(header, u, folder.file("nersc")) != "verified";
    faults += wrong(u) + (header.creation_date != "today") + (header.mat_size != 18) + (header.checksum == 0);
    faults += readArchiv(header, u, folder.file("nersc_two_rows")) != "verified";
    const multi1d<LatticeColorMatrix> exact = exact_links();
    for (int mu = 0; mu < Nd; ++mu) {
      faults += toDouble(norm2(u[mu] - exact[mu])) != 0;
      u[mu] = zero;
    }
    XMLReader file_xml, record_xml;
    QDPFileReader file(file_xml, folder.file("ildg"), QDPIO_PARALLEL);
    read(file, record_xml, u);
    faults += wrong(u) + (file.verdict() != "verified");
  }
  return faults;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::filesystem::file_size(path), '\0');
  file.read(bytes.data(), std::streamsize(bytes.size()));
  REQUIRE(file);
  // All that may differ: when it was written.
  const std::string begin = "<date>", end = "</date>";
  for (std::size_t at = bytes.find(begin); at != std::string::npos; at = bytes.find(begin, at + begin.size())) {
    const std::size_t date = at + begin.size(), behind = bytes.find(end, date);
    REQUIRE(behind != std::string::npos);
    bytes.erase(date, behind - date);
  }
  return bytes;
}

void check_files(const Extents& extents, const std::vector<Extents>& grids) {
  const TemporaryFolder alone;
  const auto writing = [](const TemporaryFolder& folder) { return [&] { return write_files(folder); }; };
  const auto reading = [](const TemporaryFolder& folder) { return [&] { return read_files(folder); }; };
  REQUIRE(faults_on(extents, kOne, writing(alone)) == 0);
  CHECK(faults_on(extents, kOne, reading(alone)) == 0);
  for (const Extents& grid : grids) {
    CAPTURE(detail::to_string(grid));
    const TemporaryFolder shared;
    CHECK(faults_on(extents, grid, writing(shared)) == 0);
    for (const std::string& name : names()) {
      CAPTURE(name);
      CHECK((bytes_of(shared.file(name)) == bytes_of(alone.file(name))));
      CHECK(bytes_of(shared.file(name)).size() > 10);
    }
    CHECK(shared.count() == names().size());
    CHECK(faults_on(extents, kOne, reading(shared)) == 0);
    CHECK(faults_on(extents, grid, reading(alone)) == 0);
  }
  const Extents& grid = grids.back();
  const TemporaryFolder gathered;
  CHECK(faults_on(extents, grid, [&] { return without_files(), write_files(gathered); }) == 0);
  for (const std::string& name : names()) CHECK((bytes_of(gathered.file(name)) == bytes_of(alone.file(name))));
  CHECK(faults_on(extents, grid, [&] { return without_files(), read_files(alone); }) == 0);
}

void copy_changed(const std::string& from, const std::string& to, const std::function<void(std::string&)>& change) {
  std::ifstream in(from, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  change(bytes);
  std::ofstream(to, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void check_same_text(const std::vector<std::string>& texts, const std::string& part) {
  for (const std::string& text : texts) {
    CHECK(text == texts[0]);
    CHECK(contains(text, part));
    CHECK(!contains(text, "wrong sum"));
  }
}

}  // namespace

TEST_CASE("files have the bytes of one rank, and are read to the same sites") { check_files({4, 4, 4, 4}, kGrids); }
TEST_CASE("the same where ranks of one machine are side by side") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("grids of ranks written out");
  const tests::Machines two(2);
  check_files({4, 8, 4, 4}, {{2, 2, 1, 1}});
}
TEST_CASE("boxes of odd extents, and of one site in a direction") {
  check_files({6, 3, 2, 3}, {{2, 1, 1, 1}, {2, 3, 1, 1}, {6, 1, 1, 1}});
}

TEST_CASE("fields of more than one chunk, whose ends lie within lines") {
  const Extents extents = Nd == 4 ? Extents(8, 6, 8, 12) : Extents(240, 192, Nd == 3 ? 2 : 1, 1);
  const TemporaryFolder folder;
  const auto writing = [&](const std::string& name) {
    return [&, name] {
      XMLBufferWriter xml = document("file");
      multi1d<LatticeColorMatrixD> u(4);
      for (int i = 0; i < 4; ++i) fill(u[i], i);
      QDPFileWriter file(xml, folder.file(name), QDPIO_SINGLEFILE, QDPIO_SERIAL);
      write(file, xml, u);
      close(file);
      return 0;
    };
  };
  REQUIRE(faults_on(extents, kOne, writing("alone")) == 0);
  for (const Extents& grid : {Extents(4, 1, 1, 1), Extents(2, 2, 1, 1), Extents(1, 2, 2, 1)}) {
    faults_on(extents, grid, writing("shared"));
    CHECK((bytes_of(folder.file("shared")) == bytes_of(folder.file("alone"))));
    CHECK(faults_on(extents, grid, [&] {
            XMLReader xml;
            multi1d<LatticeColorMatrixD> u(4);
            QDPFileReader file(xml, folder.file("alone"), QDPIO_SERIAL);
            read(file, xml, u);
            return wrong(u);
          }) == 0);
  }
}

namespace {

/// Blocks of ranks that do input and output; all 0: not said.
struct Blocks {
  Extents grid, blocks;
  std::vector<int> files;  ///< numbers of those that PARTFILE makes
};

/// A field in files of the ranks, or of blocks of them, and what each lists: its rank's sites as these are kept, or its block's in order.
void check_volumes(const Extents& extents, const Blocks& with) {
  CAPTURE(QDP::detail::to_string(with.grid));
  CAPTURE(QDP::detail::to_string(with.blocks));
  const TemporaryFolder folder;
  const std::string one = folder.file("one"), all = folder.file("all"), parts = folder.file("parts");
  std::vector<int> ranks(static_cast<std::size_t>(tests::ranks_of(with.grid)));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = static_cast<int>(rank);
  const auto owners = on_grid<int>(extents, with.grid, [&] {  // [lexicographic number] rank and host index
    if (with.blocks[0] > 0) {
      multi1d<int> blocks(Nd);
      for (int mu = 0; mu < Nd; ++mu) blocks[mu] = with.blocks[static_cast<std::size_t>(mu)];
      Layout::setIONodeGrid(blocks);
    }
    LatticeColorMatrix u;
    gaussian(u);
    const std::pair<const std::string*, QDP_volfmt_t> sets[] = {
        {&one, QDPIO_SINGLEFILE}, {&all, QDPIO_MULTIFILE}, {&parts, QDPIO_PARTFILE}};
    for (const auto& [name, format] : sets) {
      XMLBufferWriter file_xml, xml;
      push(file_xml, "file"), pop(file_xml);
      push(xml, "record"), pop(xml);
      QDPFileWriter to(file_xml, *name, format, QDPIO_PARALLEL);
      write(to, xml, u);
      multi1d<int> low(Nd), high(Nd);
      low = 0;
      for (int mu = 0; mu < Nd; ++mu) high[mu] = Layout::lattSize()[mu] / 2;
      write(to, xml, u, low, high);
      close(to);
    }
    std::vector<int> of_sites;
    for (int i = 0; i < static_cast<int>(Layout::vol()); ++i) {
      const multi1d<int> x = crtesn(i, Layout::lattSize());
      of_sites.push_back(Layout::nodeNumber(x));
      of_sites.push_back(Layout::linearSiteIndex(x));
    }
    return of_sites;
  })[0];

  const auto listed = [&](const std::string& file) {
    const io::LimeReader lime(file);
    std::vector<int> sites;
    for (const io::LimeRecord& record : lime.records())
      if (record.type == "scidac-sitelist") {
        std::vector<unsigned char> bytes(record.size);
        lime.read(record, 0, bytes.data(), bytes.size());
        for (std::size_t i = 0; i < bytes.size(); i += 4)
          sites.push_back(bytes[i] << 24 | bytes[i + 1] << 16 | bytes[i + 2] << 8 | bytes[i + 3]);
      }
    return sites;
  };
  const int volume_of_lattice = static_cast<int>(owners.size() / 2);
  for (const int rank : ranks) {
    std::vector<int> expected(owners.size() / 2 / ranks.size());
    for (int site = 0; site < volume_of_lattice; ++site)
      if (owners[static_cast<std::size_t>(2 * site)] == rank)
        expected[static_cast<std::size_t>(owners[static_cast<std::size_t>(2 * site + 1)])] = site;
    CHECK(listed(tests::part_of(all, rank)) == expected);
  }
  std::vector<int> seen;
  for (const int number : with.files) {
    const std::vector<int> sites = listed(tests::part_of(parts, number));
    CHECK(std::is_sorted(sites.begin(), sites.end()));
    // A rank's sites are all in one file, that of its block, which has the lowest of its ranks' sites first.
    REQUIRE(!sites.empty());
    CHECK(owners[static_cast<std::size_t>(2 * sites[0])] == number);
    seen.insert(seen.end(), sites.begin(), sites.end());
    CHECK(sites.size() % (owners.size() / 2 / ranks.size()) == 0);
  }
  CHECK(std::filesystem::exists(tests::part_of(parts, static_cast<int>(ranks.size()))) == false);
  for (const int rank : ranks)
    CHECK(std::filesystem::exists(tests::part_of(parts, rank)) == (std::ranges::count(with.files, rank) == 1));
  std::ranges::sort(seen);
  REQUIRE(static_cast<int>(seen.size()) == volume_of_lattice);
  for (int site = 0; site < volume_of_lattice; ++site) REQUIRE(seen[static_cast<std::size_t>(site)] == site);

  // On another grid, and the same as from the single file.
  CHECK(faults_on(extents, kOne, [&] {
          int faults = 0;
          LatticeColorMatrix u, v;
          XMLReader xml;
          QDPFileReader single(xml, one, QDPIO_SERIAL);
          read(single, xml, u);
          for (const std::string& name : {all, parts}) {
            QDPFileReader from(xml, name, QDPIO_SERIAL);
            read(from, xml, v);
            faults += from.verdict() != "verified" || toDouble(norm2(v - u)) != 0;
            v = zero;
            read(from, xml, v);
            faults += from.verdict() != "verified" || toDouble(norm2(v)) == 0;
          }
          return faults;
        }) == 0);
}

}  // namespace

TEST_CASE("files of each rank, and of blocks of ranks") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("grids of ranks written out");
  const Extents none{0, 0, 0, 0};
  for (const Blocks& blocks : {Blocks{{2, 1, 1, 2}, none, {0, 1, 2, 3}}, Blocks{{2, 1, 1, 2}, {1, 1, 1, 2}, {0, 2}},
                               Blocks{{2, 1, 1, 2}, {1, 1, 1, 1}, {0}}, Blocks{{4, 1, 1, 1}, {3, 1, 1, 1}, {0, 2}},
                               Blocks{{3, 1, 1, 1}, {2, 1, 1, 1}, {0, 2}}, Blocks{{1, 2, 2, 1}, {7, 2, 1, 1}, {0, 1}}})
    check_volumes(blocks.grid[0] == 3 ? Extents{6, 2, 2, 4} : Extents{4, 4, 2, 4}, blocks);
}

#ifdef QDP_USE_HDF5
TEST_CASE(
    "files of HDF5: what several ranks write is read by one, and the reverse; errors of the primary are all ranks'") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  const Extents extents{4, 4, 2, 4};
  const auto field_of_places = [] {
    LatticeColorMatrix u = zero;
    for (int mu = 0; mu < Nd; ++mu) u = u * Real(10) + Layout::latticeCoordinate(mu);
    return u;
  };
  const auto write = [&] {
    HDF5Writer out(path, HDF5Base::trunc);
    out.push("a");
    multi1d<LatticeColorMatrix> all(2);
    all[0] = field_of_places();
    all[1] = Real(2) * all[0];
    out.write("x", all);
    out.write("n", Layout::nodeNumber() + 3);  // the primary's counts
    out.close();
    return 0;
  };
  const auto read = [&] {
    HDF5Reader in(path);
    in.cd("a");
    multi1d<LatticeColorMatrix> all;
    int n = 0, faults = 0;
    in.read("x", all);
    in.read("n", n);
    faults += all.size() != 2 || n != 3 || toDouble(norm2(all[0] - field_of_places())) != 0 ||
              toDouble(norm2(all[1] - Real(2) * all[0])) != 0 || toDouble(norm2(all[0])) == 0;
    faults += in.pwd() != "/a";
    faults += !contains(tests::message_of([&] { in.read("none", n); }), "/a/none: expected an object of this name");
    return faults;
  };
  for (const Extents& grid : {Extents{2, 1, 1, 2}, Extents{1, 2, 2, 1}}) {
    CHECK(faults_on(extents, grid, write) == 0);
    CHECK(faults_on(extents, kOne, read) == 0);
    CHECK(faults_on(extents, kOne, write) == 0);
    CHECK(faults_on(extents, grid, read) == 0);
  }
}
#endif

TEST_CASE("a rank's part of more than one chunk; the log tells how, how much and how fast") {
  const Extents extents = Nd == 4 ? Extents(8, 16, 8, 16) : Extents(128, 128, Nd == 3 ? 2 : 1, 1);
  const Extents grid(2, 2, 1, 1);
  const TemporaryFolder folder;
  static std::string log;
  const auto writing = [&](const std::string& name, bool together) {
    return [&, name, together] {
      if (!together) without_files();
      jit::configure_log("info,io");
      jit::set_log_sink([](std::string_view line) { (log += line) += "\n"; });
      XMLBufferWriter xml = document("file");
      LatticePropagatorD psi;
      fill(psi);
      QDPFileWriter file(xml, folder.file(name), QDPIO_SINGLEFILE, QDPIO_SERIAL);
      write(file, xml, psi);
      close(file);
      XMLReader in_xml;
      QDPFileReader in(in_xml, folder.file(name), QDPIO_SERIAL);
      psi = zero;
      read(in, in_xml, psi);
      return std::vector<char>(log.begin(), log.end());
    };
  };
  const auto log_of = [&](const Extents& ranks, const std::string& name, bool together) {
    const auto all = on_grid<char>(extents, ranks, writing(name, together));
    for (std::size_t r = 1; r < all.size(); ++r) CHECK(all[r].empty());
    return std::string(all[0].begin(), all[0].end());
  };
  const std::string rate = " MiB (to|of) \"[^\"]*\": [0-9.]+ s, [0-9.]+ MiB/s";
  const auto tells = [&](const std::string& text, const std::string& line) {
    CAPTURE(text);
    CHECK(std::regex_search(text, std::regex(line)));
  };
  const std::string alone = log_of(kOne, "alone", true);
  for (const char* verb : {"wrote", "flushed", "read"}) tells(alone, verb + (" [1-9][0-9.]*" + rate + "\n"));
  const std::string shared = log_of(grid, "shared", true);
  for (const char* verb : {"wrote", "read"}) tells(shared, verb + (" [1-9][0-9.]*" + rate + ", all ranks together"));
  const std::string gathered = log_of(grid, "gathered", false);
  for (const char* verb : {"wrote", "read"}) tells(gathered, verb + (" [1-9][0-9.]*" + rate + "\n"));
  tells(gathered, "one rank moves the data of all, as the test says so");
  CHECK((bytes_of(folder.file("shared")) == bytes_of(folder.file("alone"))));
  CHECK((bytes_of(folder.file("gathered")) == bytes_of(folder.file("alone"))));
}

TEST_CASE("a file that one rank cannot write to or read from is moved by the primary") {
  const TemporaryFolder folder;
  const auto reading = [&](const std::string& name) {
    XMLReader xml;
    LatticeFermion psi;
    QDPFileReader file(xml, name, QDPIO_SERIAL);
    read(file, xml, psi);
    return wrong(psi) + (file.verdict() != "verified");
  };
  const Extents extents(4, 4, 2, 4), grid(2, 2, 1, 1);
  CHECK(faults_on(extents, grid, [&] {
          // Rank 3 is elsewhere, where nothing, or something else, has the name.
          std::filesystem::create_directory(folder.file("elsewhere" + std::to_string(Layout::nodeNumber())));
          std::filesystem::current_path(folder.file(Layout::nodeNumber() == 3 ? "elsewhere3" : "."));
          XMLBufferWriter xml = document("file");
          LatticeFermion psi;
          fill(psi);
          QDPFileWriter file(xml, "psi", QDPIO_SINGLEFILE, QDPIO_SERIAL);
          write(file, xml, psi);
          close(file);
          int faults = reading("psi");
          if (Layout::nodeNumber() == 3) std::ofstream("psi") << "something else";
          faults += reading("psi");
          return faults;
        }) == 0);
  CHECK(faults_on(extents, kOne, [&] { return reading(folder.file("psi")); }) == 0);
}

TEST_CASE("what a rank gives is what was asked before, not what statements make of it later") {
  const TemporaryFolder folder;
  CHECK(faults_on({4, 4, 2, 4}, {2, 2, 1, 1}, [&] {
          LatticeColorMatrix u, v;
          fill(u);
          for (int mu = 0; mu < Nd; ++mu) v = shift(u, FORWARD, mu), u = shift(v, BACKWARD, mu);  // queued exchanges
          BinaryFileWriter file(folder.file("u"));
          write(file, u);
          u = zero;
          file.close();
          BinaryFileReader in(folder.file("u"));
          read(in, v);
          return wrong(v);
        }) == 0);
}

TEST_CASE("damaged and missing files: the same error on every rank") {
  const Extents extents(4, 4, 2, 4);
  const TemporaryFolder folder;
  REQUIRE(faults_on(extents, kOne, [&] { return write_files(folder); }) == 0);
  const auto read_scidac = [&](const std::string& name) {
    return [&, name] {
      XMLReader xml;
      multi1d<LatticeColorMatrix> u;
      QDPFileReader file(xml, folder.file(name), QDPIO_SERIAL);
      read(file, xml, u);
      if (file.bad()) throw jit::UserError("bad: " + file.verdict());
    };
  };
  copy_changed(folder.file("scidac"), folder.file("short"), [](std::string& b) { b.resize(b.size() / 2); });
  copy_changed(folder.file("scidac"), folder.file("header"), [](std::string& b) { b[1] = 'x'; });
  copy_changed(folder.file("scidac"), folder.file("data"), [](std::string& b) {
    const auto at = b.find(kQcd ? "ildg-binary-data" : "scidac-binary-data");
    b[at + 400] = static_cast<char>(b[at + 400] ^ 1);
  });
  copy_changed(folder.file("binary"), folder.file("binary_short"), [](std::string& b) { b.resize(b.size() / 4); });
  for (const Extents& grid : {kOne, Extents(2, 2, 1, 1)}) {
    CAPTURE(detail::to_string(grid));
    check_same_text(messages_on(extents, grid, read_scidac("short")), "short");
    check_same_text(messages_on(extents, grid, read_scidac("header")), "456789ab");
    check_same_text(messages_on(extents, grid, read_scidac("data")), "bad: wrong");
    check_same_text(messages_on(extents, grid, read_scidac("none")), "none");
    check_same_text(messages_on({4, 8, 2, 4}, grid, read_scidac("scidac")), "lattice");
    check_same_text(messages_on(extents, grid,
                                [&] {
                                  BinaryFileReader file(folder.file("binary_short"));
                                  int word = 0;
                                  LatticeFermion psi;
                                  read(file, word), read(file, psi);
                                }),
                    "cut short");
  }
  if constexpr (kQcd) {
    copy_changed(folder.file("nersc"), folder.file("nersc_short"), [](std::string& b) { b.resize(b.size() - 1); });
    copy_changed(folder.file("nersc"), folder.file("nersc_data"),
                 [](std::string& b) { b[b.size() - 7] = static_cast<char>(b[b.size() - 7] ^ 1); });
    for (const Extents& grid : {kOne, Extents(2, 2, 1, 1)})
      for (const auto& [name, part] : {std::pair{"nersc_short", "truncated"}, {"nersc_data", "checksum"}, {"no", "no"}})
        check_same_text(messages_on(extents, grid,
                                    [&, file = folder.file(name)] {
                                      multi1d<LatticeColorMatrix> u;
                                      readArchiv(u, file);
                                    }),
                        part);
  }
}

TEST_CASE("a primary that cannot write: the same error on every rank") {
  const Extents extents(4, 4, 4, 4);
  const auto write_scidac = [](const std::string& name) {
    XMLBufferWriter xml = document("file");
    multi1d<LatticeColorMatrix> u = links();
    QDPFileWriter file(xml, name, QDPIO_SINGLEFILE, QDPIO_SERIAL);
    for (int i = 0; i < 100; ++i) write(file, xml, u);
    close(file);
  };
  const auto full_disk = [] {
    if (!Layout::primaryNode()) return;
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 20000, .rlim_max = 20000};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  for (const Extents& grid : {kOne, Extents(2, 2, 1, 1)}) {
    CAPTURE(detail::to_string(grid));
    const TemporaryFolder folder;
    const std::string nowhere = folder.file("no/such"), full = folder.file("full");
    check_same_text(messages_on(extents, grid, [&] { write_scidac(nowhere); }), "no/such");
    check_same_text(messages_on(extents, grid, [&] { full_disk(), write_scidac(full); }), "File too large");
    CHECK(folder.count() == 0);
    const auto write_binary = [](const std::string& name) {
      LatticeFermion psi;
      fill(psi);
      BinaryFileWriter file(name);
      for (int i = 0; i < 100; ++i) write(file, psi);
      file.close();
    };
    check_same_text(messages_on(extents, grid, [&] { write_binary(nowhere); }), "no/such");
    check_same_text(messages_on(extents, grid, [&] { full_disk(), write_binary(full); }), "write error");
    const auto write_xml = [](const std::string& name) {
      LatticeFermion psi;
      fill(psi);
      XMLFileWriter file(name);
      try {
        push(file, "psi");
        for (int i = 0; i < (Nd == 2 ? 20 : 1); ++i) write(file, "psi", psi);
        pop(file);
        file.close();
      } catch (const XMLError& error) {
        throw jit::UserError(error.what());
      }
    };
    check_same_text(messages_on(extents, grid, [&] { write_xml(nowhere); }), "no/such");
    check_same_text(messages_on(extents, grid, [&] { full_disk(), write_xml(full); }), "not complete");
    if constexpr (kQcd) {
      const auto write_nersc = [](const std::string& name) { writeArchiv(links(), name); };
      check_same_text(messages_on(extents, grid, [&] { write_nersc(nowhere); }), "no/such");
      check_same_text(messages_on(extents, grid, [&] { full_disk(), write_nersc(full); }), "File too large");
    }
  }
}

TEST_CASE("a rank other than the primary that cannot write its part: the same error on every rank, and no file") {
  const TemporaryFolder folder;
  const auto on_last_rank_without_room = [&](const std::function<void(const std::string&)>& write_file) {
    return [&, write_file] {
      if (Layout::nodeNumber() == Layout::numNodes() - 1) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{.rlim_cur = 3000, .rlim_max = 3000};
        setrlimit(RLIMIT_FSIZE, &limit);
      }
      write_file(folder.file("full"));
    };
  };
  const auto write_scidac = [](const std::string& name) {
    XMLBufferWriter xml = document("file");
    QDPFileWriter file(xml, name, QDPIO_SINGLEFILE, QDPIO_SERIAL);
    write(file, xml, links());
    close(file);
  };
  const Extents extents = Nd == 4 ? Extents(4, 4, 4, 4) : Extents(64, 64, Nd == 3 ? 2 : 1, 1);
  for (const Extents& grid : {Extents(2, 1, 1, 1), Extents(2, 2, 1, 1)}) {
    check_same_text(messages_on(extents, grid, on_last_rank_without_room(write_scidac)), "File too large");
    CHECK(folder.count() == 0);
    if constexpr (kQcd) {
      const auto write_nersc = [](const std::string& name) { writeArchiv(links(), name); };
      check_same_text(messages_on(extents, grid, on_last_rank_without_room(write_nersc)), "File too large");
      CHECK(folder.count() == 0);
    }
  }
}

TEST_CASE("what is lost on the way to the disk is found, whoever says that all went well") {
  struct Losing : jit::ForwardedRanks {
    using ForwardedRanks::ForwardedRanks;
    struct File : jit::SharedFile {
      std::unique_ptr<jit::SharedFile> file;
      bool mine;
      File(std::unique_ptr<jit::SharedFile> f, bool m) : file(std::move(f)), mine(m) {}
      void write(std::span<const jit::FileBlock> blocks, const void* data) override {
        file->write(mine ? blocks.first(blocks.size() - 1) : blocks, data);
      }
      void read(std::span<const jit::FileBlock> blocks, void* data) override { file->read(blocks, data); }
      void close() override { file->close(); }
    };
    std::unique_ptr<jit::SharedFile> open_file(const std::string& path, bool writing, std::string& why_not) override {
      return std::make_unique<File>(ForwardedRanks::open_file(path, writing, why_not), writing && rank() == 1);
    }
  };
  const TemporaryFolder folder;
  const auto write_scidac = [&] {
    auto ranks = jit::replace_process_communicator(nullptr);
    jit::replace_process_communicator(std::make_unique<Losing>(std::move(ranks)));
    XMLBufferWriter xml = document("file");
    QDPFileWriter file(xml, folder.file("lost"), QDPIO_SINGLEFILE, QDPIO_SERIAL);
    write(file, xml, links());
    close(file);
  };
  check_same_text(messages_on({4, 4, 2, 4}, {2, 2, 1, 1}, write_scidac), "what rank 1 wrote, got other data");
  CHECK(folder.count() == 0);
}

TEST_CASE("a rank that has no memory for its sites: the same error on every rank") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  TESSERA_SKIP("a sanitizer has no use for a process without address space");
#endif
  const Extents extents = Nd == 2 ? Extents(512, 512, 1, 1) : Extents(16, 32, 32, 8), grid(2, 2, 1, 1);
  const TemporaryFolder folder;
  const auto on_rank_1_without_memory = [](const std::function<void(const LatticePropagator&)>& action) {
    return [=] {
      LatticePropagator psi = zero;
      REQUIRE(toDouble(norm2(psi)) == 0);
      rlimit old{};
      getrlimit(RLIMIT_AS, &old);
      const rlimit little{.rlim_cur = std::size_t{16} << 20, .rlim_max = old.rlim_max};
      if (Layout::nodeNumber() == 1) setrlimit(RLIMIT_AS, &little);
      try {
        action(psi);
      } catch (...) {
        setrlimit(RLIMIT_AS, &old);
        throw;
      }
      setrlimit(RLIMIT_AS, &old);
    };
  };
  const auto writing = [&](const LatticePropagator& psi) {
    BinaryFileWriter file(folder.file("psi"));
    write(file, psi);
  };
  std::ofstream(folder.file("zeros")) << std::string(1 << 20, '\0');
  const auto reading = [&](const LatticePropagator& psi) {
    BinaryFileReader file(folder.file("zeros"));
    read(file, const_cast<LatticePropagator&>(psi));
  };
  check_same_text(messages_on(extents, grid, on_rank_1_without_memory(writing)), "memory");
  check_same_text(messages_on(extents, grid, on_rank_1_without_memory(reading)), "memory");
}

TEST_CASE("a rank that fails while others wait, and questions to the file system") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("there")) << "text";
  const Extents extents(4, 4, 2, 4), grid(2, 2, 1, 1);
  check_same_text(messages_on(extents, grid,
                              [] {
                                const int rank = Layout::nodeNumber();
                                io::throw_everywhere_of_any(rank == 0 ? "rank 1 failed" : rank == 1 ? "memory" : "");
                              }),
                  "memory");
  CHECK(faults_on(extents, grid, [] {
          LatticeReal x = Real(1);
          io::FieldSource source({x.field().get()});
          REAL word = 0;
          try {
            source.get(0, 1, &word);
          } catch (const jit::InternalError&) {
            return 0;
          }
          return 1;
        }) == 0);
  CHECK(faults_on(extents, grid, [&] {
          const bool primary = Layout::primaryNode();
          int faults = io::once([&] { return primary ? 7 : 8; }) != 7;
          faults += io::once([&] { return std::vector<std::string>{"a", primary ? "b" : "c"}; }).at(1) != "b";
          faults += io::anywhere(Layout::nodeNumber() == 3) != true;
          faults += io::anywhere(false);
          return faults + (read_whole_file(folder.file("there")) != "text");
        }) == 0);
}
