// Files of HDF5: what is written comes back, and stands in the file as QDP++ has it.
#include <doctest/doctest.h>

#include "qdp.h"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/sizes.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

#ifndef QDP_USE_HDF5

TEST_CASE("files of HDF5") { TESSERA_SKIP("libhdf5-dev was not there when Tessera was built"); }

#else

#include <hdf5.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace QDP;
using tests::contains;
using tests::create_lattice;
using tests::message_of;

namespace {

/// What another program sees of a dataset: extents, "{r f8, i f8}[3,3]", and numbers from the `first` on, `count` of them.
struct Seen {
  std::vector<hsize_t> extents;
  std::string type;
  std::vector<double> numbers;
};

std::string type_text(hid_t type) {
  const std::string bytes = std::to_string(H5Tget_size(type));
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return "f" + bytes;
    case H5T_INTEGER:
      return "i" + bytes;
    case H5T_STRING:
      return "s" + bytes;
    case H5T_COMPOUND: {
      std::string text;
      for (int i = 0; i < H5Tget_nmembers(type); ++i) {
        char* const name = H5Tget_member_name(type, static_cast<unsigned>(i));
        text += std::string(text.empty() ? "{" : ", ") + name + " " +
                type_text(H5Tget_member_type(type, static_cast<unsigned>(i)));
        H5free_memory(name);
      }
      return text + "}";
    }
    case H5T_ARRAY: {
      hsize_t n[2] = {};
      H5Tget_array_dims2(type, n);
      return type_text(H5Tget_super(type)) + "[" + std::to_string(n[0]) + "," + std::to_string(n[1]) + "]";
    }
    default:
      return "?";
  }
}

Seen seen_in(const std::string& path, const std::string& name) {
  Seen seen;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, name.c_str(), H5P_DEFAULT), type = H5Dget_type(data), space = H5Dget_space(data);
  seen.extents.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, seen.extents.data(), nullptr);
  seen.type = (H5Tcommitted(type) > 0 ? "named " : "") + type_text(type);
  const std::size_t bytes = H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
  std::vector<char> raw(bytes);
  H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw.data());
  const bool in_double = seen.type.find("f8") != std::string::npos;
  for (std::size_t i = 0; i < bytes; i += in_double ? 8 : 4)
    seen.numbers.push_back(in_double ? *reinterpret_cast<const double*>(raw.data() + i)
                                     : *reinterpret_cast<const float*>(raw.data() + i));
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(data);
  H5Fclose(file);
  return seen;
}

/// Component `c` of a site is a function of its coordinates.
template <class Field> void fill_with_places(Field& field) {
  using Word = typename WordType<Field>::Type_t;
  const int components = static_cast<int>(sizeof(field.elem(0)) / sizeof(Word));
  for (int i = 0; i < Layout::sitesOnNode(); ++i) {
    const multi1d<int> x = Layout::siteCoords(Layout::nodeNumber(), i);
    double number = 0;
    for (int mu = Nd; mu-- > 0;) number = 10 * number + x[mu];
    for (int c = 0; c < components; ++c)
      reinterpret_cast<Word*>(&field.elem(i))[c] = static_cast<Word>(1000 * number + c);
  }
}

template <class Field> double difference(const Field& a, const Field& b) { return toDouble(norm2(a - b)); }

constexpr tests::Extents kExtents{2, 3, 4, 5};

}  // namespace

TEST_CASE("numbers, rows, tables and texts come back, as datasets and as attributes") {
  create_lattice({2, 2, 2, 2});
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("numbers.h5");
  multi1d<int> row(3);
  row[0] = 5, row[1] = -6, row[2] = 7;
  multi2d<double> table(2, 3);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) table(i, j) = 10 * i + j + 0.5;
  multi1d<float> none(0);
  const auto all_numbers = [&](const auto& use) {
    use("i16", short{-3}), use("u16", static_cast<unsigned short>(65535)), use("i32", -70000), use("u32", 4000000000u),
        use("u64", 1ull << 63), use("f32", 0.1f), use("f64", 0.1);
  };
  {
    HDF5Writer out(path, HDF5Base::trunc);
    out.push("a");
    all_numbers([&](const char* name, auto value) { out.write(name, value); });
    out.write("row", row);
    out.write("table", table);
    out.write("none", none);
    out.write("text", std::string("two words"));
    all_numbers([&](const char* name, auto value) { out.writeAttribute("row", name, value); });
    out.writeAttribute("row", "row", row);
    out.writeAttribute("/a", "text", "of the group");
    out.close();
  }
  HDF5Reader in(path);
  in.cd("/a");
  all_numbers([&](const char* name, auto value) {
    CAPTURE(name);
    auto read = value;
    read = 0;
    in.read(name, read);
    CHECK(read == value);
    read = 0;
    in.readAttribute("row", name, read);
    CHECK(read == value);
  });
  multi1d<int> row_again;
  multi2d<double> table_again;
  multi1d<float> none_again(3);
  std::string text;
  in.read("row", row_again);
  in.read("table", table_again);
  in.read("none", none_again);
  CHECK(none_again.size() == 0);
  REQUIRE(row_again.size() == 3);
  REQUIRE((table_again.size2() == 2 && table_again.size1() == 3));
  for (int i = 0; i < 3; ++i) CHECK(row_again[i] == row[i]);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) CHECK(table_again(i, j) == table(i, j));
  row_again.resize(1);
  in.readAttribute("row", "row", row_again);
  REQUIRE(row_again.size() == 3);
  CHECK(row_again[2] == 7);
  in.read("text", text);
  CHECK(text == "two words");
  in.readAttribute("/a", "text", text);
  CHECK(text == "of the group");
  if (Layout::numNodes() == 1) {
    CHECK(seen_in(path, "/a/table").extents == std::vector<hsize_t>{2, 3});
    CHECK(seen_in(path, "/a/table").numbers == std::vector{0.5, 1.5, 2.5, 10.5, 11.5, 12.5});
    CHECK(seen_in(path, "/a/text").type == "s10");
    CHECK(seen_in(path, "/a/f64").extents.empty());
  }
}

TEST_CASE("groups are entered, left and made like folders") {
  create_lattice({2, 2, 2, 2});
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("groups.h5");
  HDF5Writer out;
  out.open(path);
  CHECK(out.pwd() == "/");
  out.push("a/b//c");
  CHECK(out.pwd() == "/a/b/c");
  CHECK(out.parentDir() == "/a/b");
  out.pop();
  CHECK(out.pwd() == "/a/b");
  out.mkdir("d");
  CHECK(out.pwd() == "/a/b");
  out.cd("d");
  CHECK(out.pwd() == "/a/b/d");
  out.cd("..");
  out.push("/x");
  out.write("n", 1);
  CHECK(out.pwd() == "/x");
  out.pop();
  out.pop();
  CHECK(out.pwd() == "/");
  CHECK(out.parentDir() == "/");
  CHECK(contains(message_of([&] { out.cd("nowhere"); }), "/nowhere: expected an object of this name"));
  CHECK(contains(message_of([&] { out.cd("/x/n"); }), "/x/n: expected a group"));
  CHECK(out.pwd() == "/");
  out.close();
  CHECK(HDF5::check_exists(path));
  CHECK_FALSE(HDF5::check_exists(folder.file("none")));
  // Added to, and begun anew.
  out.open(path);
  out.write("m", 2);
  out.close();
  int n = 0;
  HDF5Reader in(path);
  in.read("/x/n", n);
  CHECK(n == 1);
  in.read("m", n);
  CHECK(n == 2);
  in.close();
  out.open(path, HDF5Base::trunc);
  out.write("k", 3);
  out.close();
  in.open(path);
  in.read("k", n);
  CHECK(n == 3);
  CHECK(contains(message_of([&] { in.read("m", n); }), "/m: expected an object of this name, got none"));
}

TEST_CASE("fields of every kind come back in both precisions, and stand in the file in the order t z y x") {
  TESSERA_NEEDS_QCD("QDP++'s types of the file");
  create_lattice(kExtents);
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("fields.h5");
  const auto check = [&]<class Field, class Other>(Field, Other, const std::string& type,
                                                   std::vector<hsize_t> further) {
    CAPTURE(type);
    Field field, again = zero;
    fill_with_places(field);
    HDF5Writer out(path, HDF5Base::trunc);
    out.write("x", field);
    out.close();
    HDF5Reader in(path);
    in.read("x", again);
    CHECK(difference(field, again) == 0);
    Other other = zero;
    in.read("x", other);
    CHECK(difference(Field(other), field) == 0);
    in.close();
    if (Layout::numNodes() > 1) return;
    const Seen seen = seen_in(path, "x");
    std::vector<hsize_t> extents{5, 4, 3, 2};
    extents.insert(extents.end(), further.begin(), further.end());
    CHECK(seen.extents == extents);
    CHECK(seen.type == type);
    // Site (1, 2, 3, 4) is the last, (1, 0, 0, 0) the second; its component 1, if there is one.
    const std::size_t each = seen.numbers.size() / 120, component = each > 1;
    CHECK(seen.numbers[119 * each + component] == 4321000 + static_cast<double>(component));
    CHECK(seen.numbers[each + component] == 1000 + static_cast<double>(component));
  };
  check(LatticeColorMatrixF{}, LatticeColorMatrixD{}, "named {r f4, i f4}[3,3]", {});
  check(LatticeColorMatrixD{}, LatticeColorMatrixF{}, "named {r f8, i f8}[3,3]", {});
  check(LatticePropagatorF{}, LatticePropagatorD{}, "named {r f4, i f4}[3,3][4,4]", {});
  check(LatticePropagatorD{}, LatticePropagatorF{}, "named {r f8, i f8}[3,3][4,4]", {});
  check(LatticeFermionD{}, LatticeFermionF{}, "f8", {24});
  check(LatticeColorVectorF{}, LatticeColorVectorD{}, "f4", {6});
  check(LatticeComplexD{}, LatticeComplexF{}, "f8", {2});
  check(LatticeRealF{}, LatticeRealD{}, "f4", {});
  if (Layout::numNodes() > 1) return;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  CHECK(H5Lexists(file, ".ComplexFloat", H5P_DEFAULT) == 0);
  H5Fclose(file);
}

TEST_CASE("arrays of fields, integers, and scalars") {
  TESSERA_NEEDS_QCD("QDP++'s types of the file");
  create_lattice(kExtents);
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("arrays.h5");
  multi1d<LatticeColorMatrixD> links(4), links_again;
  multi1d<LatticeColorMatrixF> single(2), single_again;
  multi1d<LatticeFermionD> quarks(3), quarks_again;
  for (int i = 0; i < 4; ++i) gaussian(links[i]);
  for (int i = 0; i < 2; ++i) single[i] = links[i];
  for (int i = 0; i < 3; ++i) gaussian(quarks[i]);
  const LatticeInteger n = Layout::latticeCoordinate(0) + 10 * Layout::latticeCoordinate(3);
  const ComplexD z = cmplx(RealD(1.5), RealD(-2));
  ColorMatrixD u;
  gaussian(u);
  multi1d<ComplexD> zs(2);
  zs[0] = z, zs[1] = conj(z);
  multi1d<RealD> xs(3);
  for (int i = 0; i < 3; ++i) xs[i] = i + 0.5;
  {
    HDF5Writer out(path);
    out.push("set");
    out.write("links", links);
    out.write("single", single);
    out.write("quarks", quarks);
    out.write("n", n);
    out.write("z", z);
    out.write("zs", zs);
    out.write("u", u);
    out.write("xs", xs);
    out.write("k", Integer(-9));
  }
  HDF5Reader in(path);
  in.cd("set");
  in.read("links", links_again);
  in.read("single", single_again);
  in.read("quarks", quarks_again);
  REQUIRE((links_again.size() == 4 && single_again.size() == 2 && quarks_again.size() == 3));
  for (int i = 0; i < 4; ++i) CHECK(difference(links[i], links_again[i]) == 0);
  for (int i = 0; i < 2; ++i) CHECK(difference(single[i], single_again[i]) == 0);
  for (int i = 0; i < 3; ++i) CHECK(difference(quarks[i], quarks_again[i]) == 0);
  LatticeInteger n_again = zero;
  in.read("n", n_again);
  CHECK(toInt(sum(where(n == n_again, Integer(0), Integer(1)))) == 0);
  ComplexD z_again;
  ColorMatrixD u_again;
  multi1d<ComplexD> zs_again;
  multi1d<RealF> xs_again;
  Integer k;
  in.read("z", z_again);
  in.read("zs", zs_again);
  in.read("u", u_again);
  in.read("xs", xs_again);
  in.read("k", k);
  CHECK(toDouble(norm2(z - z_again)) == 0);
  CHECK(toDouble(norm2(u - u_again)) == 0);
  REQUIRE((zs_again.size() == 2 && xs_again.size() == 3));
  CHECK(toDouble(norm2(zs[1] - zs_again[1])) == 0);
  CHECK(toDouble(xs_again[2]) == 2.5);
  CHECK(toInt(k) == -9);
  if (Layout::numNodes() > 1) return;
  in.close();
  CHECK(seen_in(path, "/set/links").extents == std::vector<hsize_t>{5, 4, 3, 2, 4});
  CHECK(seen_in(path, "/set/links").type == "named {r f8, i f8}[3,3]");
  CHECK(seen_in(path, "/set/single").extents == std::vector<hsize_t>{5, 4, 3, 2, 36});
  CHECK(seen_in(path, "/set/quarks").extents == std::vector<hsize_t>{5, 4, 3, 2, 72});
  CHECK(seen_in(path, "/set/z").type == "named {r f8, i f8}");
  CHECK(seen_in(path, "/set/z").extents.empty());
  CHECK(seen_in(path, "/set/zs").extents == std::vector<hsize_t>{2});
  CHECK(seen_in(path, "/set/u").type == "named {r f8, i f8}[3,3]");
  CHECK(seen_in(path, "/set/xs").numbers == std::vector{0.5, 1.5, 2.5});
}

TEST_CASE("a file that QDP++ wrote") {
  TESSERA_NEEDS_QCD("QDP++ wrote it for QCD");
  create_lattice({2, 1, 2, 3});
  HDF5Reader in(tests::data_file("qdpxx/fields.h5"));
  in.cd("fields");
  const auto check = [&]<class Field>(const char* name, Field) {
    CAPTURE(name);
    Field field = zero, expected;
    fill_with_places(expected);
    in.read(name, field);
    CHECK(difference(field, expected) == 0);
  };
  check("uf", LatticeColorMatrixF{});
  check("uf", LatticeColorMatrixD{});
  check("ud", LatticeColorMatrixD{});
  check("ud", LatticeColorMatrixF{});
  check("pf", LatticePropagatorF{});
  check("psi", LatticeFermionD{});
  multi1d<LatticeColorMatrixD> links;
  in.read("links", links);
  LatticeColorMatrixD expected;
  fill_with_places(expected);
  REQUIRE(links.size() == 2);
  CHECK(difference(links[0], expected) == 0);
  CHECK(difference(links[1], LatticeColorMatrixD(RealD(2) * expected)) == 0);
  double kappa = 0;
  std::string name, text;
  multi1d<int> row;
  in.readAttribute("ud", "kappa", kappa);
  in.readAttribute("ud", "name", name);
  in.readAttribute("ud", "row", row);
  CHECK(kappa == 0.1372);
  CHECK(name == "links of QDP++");
  REQUIRE(row.size() == 3);
  CHECK(row[1] == -6);
  in.cd("/numbers");
  ComplexD z;
  RealD x;
  row.resize(0);
  in.read("z", z);
  in.read("x", x);
  in.read("text", text);
  in.read("row", row);
  CHECK(toDouble(norm2(z - cmplx(RealD(1.5), RealD(-2)))) == 0);
  CHECK(toDouble(x) == 0.75);
  CHECK(text == "some text");
  CHECK(row[2] == 7);
}

TEST_CASE("configurations of Qlua have x slowest and t fastest") {
  TESSERA_NEEDS_QCD("links of QCD");
  create_lattice(kExtents);
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("qlua.h5");
  multi1d<LatticeColorMatrixD3> u(4), again;
  for (int mu = 0; mu < 4; ++mu) {
    fill_with_places(u[mu]);
    u[mu] *= RealD(mu + 1);
  }
  HDF5Writer out(path);
  out.writeQlua("cfg", u);
  CHECK(out.pwd() == "/");
  CHECK(contains(message_of([&] { out.writeQlua("cfg", u); }), "/cfg: expected a new name"));
  out.writeQlua("cfg", u, HDF5Base::trunc);
  out.close();
  HDF5Reader in(path);
  in.readQlua("cfg", again);
  REQUIRE(again.size() == 4);
  for (int mu = 0; mu < 4; ++mu) CHECK(difference(u[mu], again[mu]) == 0);
  std::string kind;
  in.readAttribute("cfg/3", ".kind", kind);
  CHECK(kind == "LatticeColorMatrix");
  // The other way round it is another lattice.
  CHECK(contains(message_of([&] { in.read("cfg/0", again[0]); }), "expected extents 5 x 4 x 3 x 2"));
  in.close();
  if (Layout::numNodes() > 1) return;
  const Seen seen = seen_in(path, "cfg/0");
  CHECK(seen.extents == std::vector<hsize_t>{2, 3, 4, 5});
  CHECK(seen.numbers[18] == 1000000);  // the second site is that of t = 1
}

TEST_CASE("fields of several chunks") {
  create_lattice({8, 8, 8, 8});
  const tests::TemporaryFolder folder;
  LatticePropagatorD field, again = zero;
  gaussian(field);
  HDF5Writer out(folder.file("large.h5"));
  out.write("x", field);
  out.close();
  HDF5Reader in(folder.file("large.h5"));
  in.read("x", again);
  CHECK(difference(field, again) == 0);
}

TEST_CASE("what does not fit is refused with the reason, and leaves the file as it is") {
  create_lattice({2, 4, 2, 4});
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  HDF5Writer out(path);
  LatticeFermion psi, chi = zero;
  gaussian(psi);
  out.write("psi", psi);
  out.write("n", 3);
  out.write("text", std::string("t"));
  out.writeAttribute("n", "a", 1);
  CHECK(
      contains(message_of([&] { out.write("psi", psi); }), "/psi: expected a new name, got one that is there already"));
  CHECK(contains(message_of([&] { out.writeAttribute("n", "a", 2); }), "/n: expected a new attribute"));
  CHECK(contains(message_of([&] { out.writeAttribute("m", "a", 2); }), "/m: expected an object of this name"));
  out.write("n", 4, HDF5Base::trunc);
  CHECK(contains(message_of([&] { out.deleteAttribute("n", "a"); }), "expected an attribute \"a\""));
  out.writeAttribute("n", "a", 1), out.writeAttribute("n", "b", 1), out.writeAttribute("n", "c", 1);
  out.writeAttribute("n", "a", 5, HDF5Base::trunc);
  out.deleteAttribute("n", "b");
  int read = 0;
  out.readAttribute("n", "a", read);
  CHECK(read == 5);
  out.deleteAllAttributes("n");
  CHECK(contains(message_of([&] { out.readAttribute("n", "c", read); }), "expected an attribute \"c\""));
  LatticeBoolean truth = true;
  CHECK(contains(message_of([&] { out.write("truth", truth); }), "no truth values"));
  out.push("group");
  CHECK(contains(message_of([&] { out.write("/group", 1, HDF5Base::trunc); }), "/group: expected a dataset"));
  out.close();
  CHECK(contains(message_of([&] { out.write("n", 1); }), "expected an open file of HDF5, got none"));

  HDF5Reader in(path);
  double number = 0;
  multi1d<int> row;
  LatticeComplex z;
  CHECK(contains(message_of([&] { in.read("n", number); }),
                 "expected floating-point numbers of 64 bits, got integers of 32"));
  unsigned int positive = 0;
  CHECK(contains(message_of([&] { in.read("n", positive); }), "expected unsigned integers of 32 bits"));
  CHECK(contains(message_of([&] { in.read("n", row); }), "expected a row of numbers, got one object"));
  CHECK(contains(message_of([&] { in.read("text", number); }), "got text"));
  CHECK(contains(message_of([&] { in.read("psi", z); }), "numbers at a site"));
  CHECK(contains(message_of([&] { in.read("n", psi); }),
                 "expected floating-point numbers, pairs {r, i} or arrays of them"));
  CHECK(contains(message_of([&] { in.read("/group", number); }), "expected a dataset"));
  in.read("psi", chi);
  CHECK(difference(psi, chi) == 0);
  in.close();
  create_lattice({4, 2, 2, 4});
  in.open(path);
  LatticeFermion other;
  const std::string of_lattice = QDP_ND == 4 ? "4 x 2 x 2 x 4" : QDP_ND == 3 ? "2 x 2 x 4" : "2 x 4";
  CHECK(contains(message_of([&] { in.read("psi", other); }), "expected extents " + of_lattice + " of the lattice"));
  in.close();

  const std::string foreign = folder.file("foreign");
  tests::once([&] { std::ofstream(foreign) << "no such file"; });
  CHECK(contains(message_of([&] { in.open(foreign); }), "expected a file of HDF5, got another file"));
  CHECK(contains(message_of([&] { out.open(foreign); }), "Write with HDF5Base::trunc to replace it"));
  CHECK(contains(message_of([&] { in.open(folder.file("none")); }), "got none of this name"));
  CHECK(contains(message_of([&] { out.open(folder.file("no/such/folder")); }), "open \""));
  out.open(foreign, HDF5Base::trunc);
  out.close();
  CHECK(HDF5::check_exists(foreign));
}

TEST_CASE("damaged files are errors or other numbers, never the end of the program") {
  create_lattice({2, 2, 2, 2});
  if (Layout::numNodes() > 1) TESSERA_SKIP("one rank damages the files");
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("x.h5"), damaged = folder.file("damaged.h5");
  LatticeColorMatrix u;
  gaussian(u);
  {
    HDF5Writer out(path);
    out.push("a");
    out.write("u", u);
    out.writeAttribute("u", "k", 0.5);
  }
  std::string whole(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(whole.data(), static_cast<std::streamsize>(whole.size()));
  int errors = 0;
  for (std::size_t at = 0; at < whole.size(); at += 37)
    for (const bool cut : {false, true}) {
      std::string bytes = cut ? whole.substr(0, at) : whole;
      if (!cut) bytes[at] = static_cast<char>(~bytes[at]);
      std::ofstream(damaged, std::ios::binary) << bytes;
      try {
        HDF5Reader in(damaged);
        LatticeColorMatrix v;
        double k = 0;
        in.cd("a");
        in.read("u", v);
        in.readAttribute("u", "k", k);
      } catch (const jit::UserError&) {
        ++errors;
      }
    }
  CHECK(errors > static_cast<int>(whole.size()) / 37);
}

#endif
