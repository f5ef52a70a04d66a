// Damaged files: ten kinds of damage, written down here first, at random places of a configuration in each format and of a
// restart file. Every damage must be an error that names the file.
//
// Kinds: one bit; one byte; two bytes exchanged; two 32-bit words exchanged; a sector of 512 bytes zeroed; the end cut off;
// a block there twice; a block missing; a digit changed (in what is text); something appended.
//
// What is not an error must be harmless: every link bit for bit as written, and the stored checksum compared and found
// right. That leaves what carries no information for a reader: padding and flags of LIME, version numbers and
// declarations, dates and other free text of headers, digits of PLAQUETTE and LINK_TRACE below the rounding that they are
// compared with. In a restart file every byte counts: only the values of the elements that may be edited by hand can
// change without an error, and then the change is named.

#include "lib/hmc/checkpoint.hpp"
#include "qdp/io/field_stream.hpp"
#include "qdp/io/ildg.hpp"
#include "tests/divided_file.hpp"
#include "tests/lib/hmc_run.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <random>

using namespace QDP;
using namespace qcd;
using namespace tests;

#if QDP_ND == 4 && QDP_NC == 3  // all that the formats know

namespace {

using Engine = std::mt19937_64;

std::size_t below(Engine& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }

struct Kind {
  const char* name;
  void (*apply)(std::string& bytes, Engine& random);
};

const Kind kKinds[] = {
    {"a bit", [](std::string& b, Engine& r) { b[below(r, b.size())] ^= static_cast<char>(1 << below(r, 8)); }},
    {"a byte", [](std::string& b, Engine& r) { b[below(r, b.size())] = static_cast<char>(below(r, 256)); }},
    {"bytes exchanged", [](std::string& b, Engine& r) { std::swap(b[below(r, b.size())], b[below(r, b.size())]); }},
    {"words exchanged",
     [](std::string& b, Engine& r) {
       const std::size_t words = b.size() / 4, one = 4 * below(r, words), other = 4 * below(r, words);
       for (std::size_t i = 0; i < 4; ++i) std::swap(b[one + i], b[other + i]);
     }},
    {"a sector zeroed",
     [](std::string& b, Engine& r) {
       const std::size_t begin = 512 * below(r, b.size() / 512 + 1);
       for (std::size_t i = begin; i < std::min(begin + 512, b.size()); ++i) b[i] = 0;
     }},
    {"truncated", [](std::string& b, Engine& r) { b.resize(below(r, b.size())); }},
    {"a block twice",
     [](std::string& b, Engine& r) {
       const std::size_t begin = below(r, b.size());
       b.insert(begin, b.substr(begin, 1 + below(r, 512)));
     }},
    {"a block missing", [](std::string& b, Engine& r) { b.erase(below(r, b.size()), 1 + below(r, 512)); }},
    {"a digit",
     [](std::string& b, Engine& r) {
       for (;;) {
         const std::size_t at = below(r, b.size());
         const auto digit = [&](std::size_t i) {
           return i < b.size() && std::isdigit(static_cast<unsigned char>(b[i]));
         };
         const auto plain = [&](std::size_t i) {
           return i < b.size() && (std::isprint(static_cast<unsigned char>(b[i])) || b[i] == '\n');
         };
         if (!digit(at) || !plain(at - 1) || !plain(at + 1) || !plain(at + 2)) continue;  // not in binary data
         b[at] = static_cast<char>('0' + (b[at] - '0' + 1 + static_cast<int>(below(r, 9))) % 10);
         return;
       }
     }},
    {"appended",
     [](std::string& b, Engine& r) {
       for (std::size_t n = 1 + below(r, 300); n > 0; --n) b += static_cast<char>(below(r, 256));
     }},
};

/// Of each kind for each file; fewer where a statement takes long.
int trials() { return std::getenv("TESSERA_DEVICE") ? 4 : 80; }

void write_bytes(const std::string& name, const std::string& bytes) {
  tests::Written(name, std::ios::binary | std::ios::trunc) << bytes;
}

struct Count {
  int tried = 0, found = 0, harmless = 0, named = 0;
};

/// `read` throws, naming the file or the set that it is of, or returns what it made of the file: "harmless", "named", or what is
/// wrong with that.
void damage(const std::string& path, const std::string& set, const std::function<std::string()>& read, Count& count) {
  const std::string whole = read_text(path);
  REQUIRE(read() == "harmless");
  for (const Kind& kind : kKinds) {
    Engine random(hash_of_text(path.substr(path.rfind('/')) + kind.name)[0]);
    for (int trial = 0; trial < trials(); ++trial) {
      std::string bytes = whole;
      while (bytes == whole) kind.apply(bytes, random);
      write_bytes(path, bytes);
      ++count.tried;
      std::string outcome;
      try {
        outcome = read();
      } catch (const std::exception& error) {
        ++count.found;
        if (std::string(error.what()).find(set) == std::string::npos) {
          const std::string what = kind.name;
          CAPTURE(what);
          CAPTURE(trial);
          FAIL_CHECK("the message does not name the file: " << std::string(error.what()));
        }
        continue;
      }
      if (outcome == "harmless")
        ++count.harmless;
      else if (outcome == "named")
        ++count.named;
      else
        FAIL_CHECK("SILENT: " << path << ", " << kind.name << ", trial " << trial << ": " << outcome);
    }
  }
  write_bytes(path, whole);
}

/// Reads as the start of a run: the default rule about checksums.
std::string read_as_start(const std::string& cfg_type, const std::string& path, const GaugeField& good) {
  const InputFile document = input("<Cfg><cfg_type>" + cfg_type + "</cfg_type><cfg_file>" + path + "</cfg_file></Cfg>");
  const GaugeInit init = read_gauge_init(document.root());
  document.require_valid();
  GaugeField u(Nd);
  const StartReport report = init(u);
  if (report.verdict != "verified") return "checksum " + report.verdict;
  return distance(u, good) == 0 ? "harmless" : "other links";
}

std::vector<std::vector<std::uint64_t>> every_third_site() {
  std::vector<std::vector<std::uint64_t>> sites(3);
  for (std::uint64_t site = 0; site < static_cast<std::uint64_t>(Layout::vol()); ++site)
    sites[site % 3].push_back(site);
  return sites;
}

}  // namespace

TEST_CASE("no damage to a configuration goes unnoticed, in any of the three formats, or to one file of several") {
  use_lattice({2, 2, 2, 4});
  const ScratchFolder folder("damage_cfg");
  const GaugeField u = random_field();

  const std::string nersc = folder.file("cfg.nersc"), scidac = folder.file("cfg.lime"), ildg = folder.file("cfg.ildg");
  ArchivGauge_t header;
  header.float_size = 8;
  header.mat_size = 18;
  writeArchiv(header, u, nersc);
  {
    XMLBufferWriter file_xml, record_xml;
    push(file_xml, "HMC"), pop(file_xml);
    push(record_xml, "Params"), write(record_xml, "note", "free text"), pop(record_xml);
    QDPFileWriter file(file_xml, scidac, QDPIO_SINGLEFILE, QDPIO_SERIAL);
    QDP::write(file, record_xml, u);
    QDP::close(file);
  }
  {
    std::vector<jit::Field*> fields;
    for (int mu = 0; mu < Nd; ++mu) fields.push_back(const_cast<LatticeColorMatrix&>(u[mu]).field().get());
    io::FieldSource source(fields);
    const io::SiteGeometry lattice = io::lattice_geometry();
    io::on_primary_with(source, [&] { io::write_ildg(ildg, lattice, io::Word::float64, "lfn://somewhere", source); });
  }
  GaugeField good = u;
  if (sizeof(REAL) == 4) good = read_field("SZINQIO", scidac);
  const std::string set = folder.file("cfg.set");
  tests::once([&] { divide(scidac, set, {.sites = every_third_site(), .numbers = {0, 1, 7}}); });
  struct Damaged {
    std::string type, cfg_file, path;
  };
  for (const auto& [type, name, path] : {Damaged{"NERSC", nersc, nersc},
                                         {"SZINQIO", scidac, scidac},
                                         {"SZINQIO", ildg, ildg},
                                         {"SZINQIO", set, part_of(set, 0)},
                                         {"SZINQIO", set, part_of(set, 7)}}) {
    Count count;
    damage(path, name, [&] { return read_as_start(type, name, good); }, count);
    CAPTURE(path);
    CAPTURE(count.harmless);
    CHECK(count.tried == 10 * trials());
    CHECK(count.found + count.harmless == count.tried);
    CHECK(count.harmless < count.tried / 5);
  }
}

TEST_CASE("every byte of a restart file counts") {
  const ScratchFolder folder("damage_restart");
  run(input(params(folder.file("run"), 2, 1)), folder.file("data"), folder.file("log"), RunHooks{});
  const std::string path = folder.file("run_restart_2.xml");
  Count count;
  damage(
      path, path,
      [&]() -> std::string {
        const InputFile file(path);
        const std::string note = require_unchanged_restart(read_text(path), path, false);
        const HmcParameters parameters = read_hmc_parameters(file.root());
        file.require_valid();
        if (note.empty())
          return check_restart_text(read_text(path), path).state == RestartText::untouched ? "harmless" : "no identity";
        return note.find(path) != std::string::npos && note.find("->") != std::string::npos ? "named" : note;
      },
      count);
  CAPTURE(count.named);
  CHECK(count.tried == 10 * trials());
  CHECK(count.harmless == 0);
  CHECK(count.found + count.named == count.tried);
  CHECK(count.named < count.tried / 10);
}

#endif
