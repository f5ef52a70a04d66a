// Random programs: each statement gives the bits that it would give alone, whatever ran before it in the process.
#include "sketches.hpp"

#include "tests/temporary_folder.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace tests;
using namespace QDP;
using detail::Inspected;

namespace {

constexpr Extents kExtents{2, 2, 2, 2};

/// The components of a field on all sites.
std::vector<double> contents(jit::Field& field) {
  const auto* words = static_cast<const double*>(field.host_read());
  return {words,
          words + static_cast<std::size_t>(Layout::sitesOnNode()) * static_cast<std::size_t>(field.components())};
}

/// What all processes of the test have: operands, and the statements of all programs: a few, and for each some that are nearly
/// the same, so that kernels are few and close.
class World {
 public:
  World() {
    for (int i = 0; i < 24; ++i) {
      SketchStatement s = random_statement(1 + any(3));
      for (int k = 0; k < 5; ++k, s = changed(s)) known_.push_back(s);
    }
  }

  const std::vector<SketchStatement>& known() const { return known_; }
  const SketchFields& fields() const { return fields_; }
  const Places& places() const { return places_; }
  const jit::Domain& domain(const SketchStatement& s) const { return s.scattered ? scattered_.domain() : all.domain(); }

  /// The words of all operands, one field after the other.
  std::vector<double> state() const {
    std::vector<double> words;
    for (jit::Field* f : operands()) {
      const std::vector<double> x = contents(*f);
      words.insert(words.end(), x.begin(), x.end());
    }
    return words;
  }
  void set_state(std::vector<double>& words) const {
    const double* from = words.data();
    for (jit::Field* f : operands()) {
      const std::size_t n = contents(*f).size();
      std::memcpy(f->host_write(), from, n * sizeof(double));
      from += n;
    }
  }
  /// Runs a statement: the destination's words after it, or the sums.
  std::vector<double> run(const SketchStatement& s) const {
    const detail::Shape shape = SketchFields::shape(s.rhs->kind);
    const detail::Expr rhs = fields_.expression(s.rhs);
    if (s.reduction == 0) {
      const auto& dest = fields_.field(s.rhs->kind, s.dest);
      detail::assign(dest, shape, domain(s), rhs);
      return contents(*dest);
    }
    std::vector<double> sums(static_cast<std::size_t>(shape.components()));
    const jit::Domain* const where = &domain(s);
    detail::reduce(rhs, {&where, 1}, static_cast<detail::Reduce>(s.reduction - 1), sums.data());
    return sums;
  }

 private:
  std::vector<jit::Field*> operands() const {
    std::vector<jit::Field*> list;
    for (const Kind kind : {Kind::real, Kind::complex, Kind::matrix})
      for (int n = 0; n < kFieldsOfAKind; ++n) list.push_back(fields_.field(kind, n).get());
    return list;
  }

  const bool made_ = [] {
    reference::seed_random(20264);
    create_lattice(kExtents);
    return true;
  }();
  const Places places_{kExtents};
  const Subset scattered_ = subsets(kExtents)[6].subset;
  const SketchFields fields_{places_, false};
  std::vector<SketchStatement> known_;
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void save(const std::string& file, const std::vector<double>& words) {
  tests::Written(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof(double)));
}
std::vector<double> saved(const std::string& file) {
  std::vector<double> words(std::filesystem::file_size(file) / sizeof(double));
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof(double)));
  return words;
}

constexpr const char* kAlone = "a statement in a process of its own";

/// What a statement gives in a process that runs nothing else.
std::vector<double> run_alone(const TemporaryFolder& folder, const std::vector<double>& state, int number) {
  const std::string file = folder.file("words");
  save(file, state);
  setenv("STATEMENT_NUMBER", std::to_string(number).c_str(), 1);
  setenv("STATEMENT_WORDS", file.c_str(), 1);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  REQUIRE(std::system((self + " --no-skip --test-case='" + kAlone + "' >" + folder.file("log")).c_str()) == 0);
  return saved(file);
}

}  // namespace

TEST_CASE("a statement in a process of its own" * doctest::skip()) {
  const char* const file = std::getenv("STATEMENT_WORDS");
  REQUIRE(file != nullptr);
  const World world;
  std::vector<double> state = saved(file);
  world.set_state(state);
  save(file, world.run(world.known().at(static_cast<std::size_t>(std::atoi(std::getenv("STATEMENT_NUMBER"))))));
}

TEST_CASE("200 programs of 20 statements give the bits of each statement by itself") {
  const World world;
  const TemporaryFolder folder;
  std::vector<double> start = world.state();
  int wrong = 0, alone = 0;
  for (int program = 0; program < 200; ++program) {
    world.set_state(start);
    // One of the twenty is run in a process of its own as well; in others its kernel is found, made or divided.
    const int elsewhere = any(20);
    for (int line = 0; line < 20; ++line) {
      const int number = any(static_cast<int>(world.known().size()));
      const SketchStatement& s = world.known()[static_cast<std::size_t>(number)];
      std::vector<double> fresh;
      if (line == elsewhere) fresh = run_alone(folder, world.state(), number), ++alone;

      // The same statement, lowered now and interpreted.
      const detail::Shape shape = SketchFields::shape(s.rhs->kind);
      const auto n = static_cast<std::size_t>(shape.components());
      std::vector<double> expected;
      if (s.reduction) {
        // Sums of doubles have their own arithmetic: the bits are those of the summands stored, which are checked below.
        const auto aside = detail::new_field(shape);
        detail::assign(aside, shape, all.domain(), world.fields().expression(s.rhs));
        expected.resize(n);
        const jit::Domain* const where = &world.domain(s);
        detail::reduce(detail::make_field(aside, shape), {&where, 1}, static_cast<detail::Reduce>(s.reduction - 1),
                       expected.data());
      } else {
        const auto& dest = world.fields().field(s.rhs->kind, s.dest);
        const Inspected plainly =
            detail::inspect_assign(dest, shape, world.domain(s), world.fields().expression(s.rhs));
        const PlainKernel plain(plainly.kernel);
        expected = contents(*dest);
        for (int site = 0; site < Layout::sitesOnNode(); ++site) {
          const Extents& x = world.places().at(static_cast<std::size_t>(site));
          if (s.scattered && scatter(x) % 3 != 0) continue;
          plain.run(plainly, site, &expected[static_cast<std::size_t>(site) * n], nullptr);
        }
      }

      const std::vector<double> got = world.run(s);
      const bool same = same_bits(got, expected) && (fresh.empty() || same_bits(got, fresh));
      CHECK_MESSAGE(same, "program ", program, ", line ", line, ", statement ", number);
      wrong += !same;
    }
  }
  CHECK(wrong == 0);
  CHECK(alone == 200);
}
