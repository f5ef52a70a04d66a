// Shifts and user maps: of fields and of expressions, nested, on subsets, and into their own source.
#include "places.hpp"

using namespace tests;
using namespace QDP;
using reference::add;
using reference::multiply;

namespace {

using D = Sites<double>;
using F = Sites<float>;
using Source = std::function<Extents(const Extents&)>;

class SimpleMap : public MapFunc {
 public:
  explicit SimpleMap(Source f) : f_(std::move(f)) {}
  multi1d<int> operator()(const multi1d<int>& x, int) const override { return to_multi1d(f_(to_extents(x))); }

 private:
  Source f_;
};

/// Rolls in direction mu by `step`, forwards or backwards.
class Roll : public ArrayMapFunc {
 public:
  Roll(const Extents& extents, int step) : extents_(extents), step_(step) {}
  multi1d<int> operator()(const multi1d<int>& c, int sign, int mu) const override {
    Extents x = to_extents(c);
    x[mu] = ((x[mu] + sign * step_) % extents_[mu] + extents_[mu]) % extents_[mu];
    return to_multi1d(x);
  }
  int numArray() const override { return Nd; }

 private:
  Extents extents_;
  int step_;
};

constexpr int kSigns[] = {FORWARD, BACKWARD};

}  // namespace

TEST_CASE("shift(x, FORWARD, mu)(site) = x(site + mu), periodically") {
  on_every_lattice([](const Places& places) {
    auto check = [&](auto type, const char* what) {
      using T = decltype(type);
      const auto x = random_lattice<T>();
      const auto v = values(x);
      OLattice<T> r;
      for (int mu = 0; mu < Nd; ++mu)
        for (int sign : kSigns) {
          r = shift(x, sign, mu);
          check_field(what, r, [&](std::size_t i) { return v[places.neighbour(i, mu, sign)]; }, 0);
        }
    };
    check(D::ColorMatrix{}, "double ColorMatrix");
    check(F::Fermion{}, "float Fermion");
    check(Integer::Subtype_t{}, "Integer");
    check(Boolean::Subtype_t{}, "Boolean");
  });
}

TEST_CASE("two shifts compose in any order") {
  on_every_lattice([](const Places& places) {
    const auto x = random_lattice<F::Complex>();
    const auto v = values(x);
    LatticeComplexF r;
    for (int mu = 0; mu < Nd; ++mu)
      for (int nu = 0; nu < Nd; ++nu)
        for (int sign : kSigns) {
          CAPTURE(mu);
          CAPTURE(nu);
          r = shift(shift(x, FORWARD, mu), sign, nu);
          check_field(
              "shift of shift", r,
              [&](std::size_t i) { return v[places.neighbour(places.neighbour(i, nu, sign), mu, +1)]; }, 0);
        }
  });
}

TEST_CASE("shifts nest four deep, alone and with products between them") {
  on_every_lattice([](const Places& places) {
    const auto u = random_lattice<D::ColorMatrix>();
    const auto v = values(u);
    LatticeColorMatrixD r;
    constexpr int z = Nd > 2 ? 2 : 0, t = Nd - 1;
    r = shift(shift(shift(shift(u, FORWARD, 0), FORWARD, 1), BACKWARD, z), BACKWARD, t);
    auto step = [&](std::size_t i, int mu, int sign) { return places.neighbour(i, mu, sign); };
    check_field(
        "four deep", r, [&](std::size_t i) { return v[step(step(step(step(i, t, -1), z, -1), 1, 1), 0, 1)]; }, 0);
    r = shift(u * shift(adj(u) * shift(u + shift(u, BACKWARD, 0), FORWARD, t), BACKWARD, 1), FORWARD, z);
    check_field(
        "four deep with products", r,
        [&](std::size_t i) {
          const std::size_t a = step(i, z, 1), b = step(a, 1, -1), c = step(b, t, 1), d = step(c, 0, -1);
          return multiply(v[a], multiply(reference::adjoint(v[b]), add(v[c], v[d])));
        },
        tol<double>(60));
  });
}

TEST_CASE("staples: expressions inside shifts, added up") {
  on_every_lattice([](const Places& places) {
    multi1d<LatticeColorMatrixD> u(2);
    std::vector<SiteValue> v[2];
    for (int i = 0; i < 2; ++i) u[i] = random_lattice<D::ColorMatrix>(), v[i] = values(u[i]);
    LatticeColorMatrixD staple;
    staple = u[1] * shift(u[0], FORWARD, 1) * adj(shift(u[1], FORWARD, 0)) +
             shift(adj(u[1]) * u[0] * shift(u[1], FORWARD, 0), BACKWARD, 1);
    check_field(
        "staple", staple,
        [&](std::size_t i) {
          const std::size_t up = places.neighbour(i, 1, 1), right = places.neighbour(i, 0, 1);
          const std::size_t down = places.neighbour(i, 1, -1), corner = places.neighbour(down, 0, 1);
          return add(multiply(multiply(v[1][i], v[0][up]), reference::adjoint(v[1][right])),
                     multiply(multiply(reference::adjoint(v[1][down]), v[0][down]), v[1][corner]));
        },
        tol<double>(60));
  });
}

TEST_CASE("the hopping term of one checkerboard") {
  on_every_lattice([](const Places& places) {
    const auto u = random_lattice<F::ColorMatrix>();
    const auto psi = random_lattice<F::Fermion>();
    const auto vu = values(u), vp = values(psi);
    auto chi = random_lattice<F::Fermion>();
    const auto before = values(chi);
    for (int mu = 0; mu < Nd; ++mu) {
      chi[rb[1]] = spinReconstruct(u * shift(spinProject(psi, mu, -1), FORWARD, mu), mu, -1) +
                   spinReconstruct(shift(adj(u) * spinProject(psi, mu, +1), BACKWARD, mu), mu, +1);
      check_field(
          "hopping term", chi,
          [&](std::size_t i) {
            const Extents& x = places.at(i);
            if (parity_of(x) == 0) return before[i];
            const std::size_t f = places.neighbour(i, mu, 1), b = places.neighbour(i, mu, -1);
            const SiteValue forward = multiply(vu[i], vp[f]), backward = multiply(reference::adjoint(vu[b]), vp[b]);
            const SiteValue g = reference::gamma(1 << mu);
            return add(reference::subtract(forward, multiply(g, forward)), add(backward, multiply(g, backward)));
          },
          tol<float>(40));
    }
  });
}

TEST_CASE("shifts of differently typed fields in one statement") {
  on_every_lattice([](const Places& places) {
    const auto f = random_lattice<F::ColorMatrix>();
    const auto d = random_lattice<D::ColorVector>();
    const auto n = random_lattice<Integer::Subtype_t>();
    const auto vf = values(f), vd = values(d), vn = values(n);
    LatticeColorVectorD r;
    constexpr int t = Nd - 1;
    r = shift(f, FORWARD, t) * shift(d, FORWARD, t) + shift(n, BACKWARD, t) * d;
    check_field(
        "float, double and integer", r,
        [&](std::size_t i) {
          const std::size_t a = places.neighbour(i, t, 1), b = places.neighbour(i, t, -1);
          return add(multiply(vf[a], vd[a]), multiply(vn[b], vd[i]));
        },
        tol<double>(40));
  });
}

TEST_CASE("maps of the user: any source for each site") {
  on_every_lattice([](const Places& places) {
    const Extents e = places.extents();
    const std::vector<std::pair<std::string, Source>> sources{
        {"time reversal",
         [=](const Extents& x) {
           Extents y = x;
           y.back() = (e.back() - x.back()) % e.back();
           return y;
         }},
        {"point reflection",
         [=](const Extents& x) {
           Extents y = x;
           for (int mu = 0; mu < Nd; ++mu) y[mu] = e[mu] - 1 - x[mu];
           return y;
         }},
        {"diagonal",
         [=](const Extents& x) {
           Extents y = x;
           y[0] = (x[0] + 1) % e[0], y[1] = (x[1] + e[1] - 1) % e[1];
           return y;
         }},
        {"first time slice",
         [](const Extents& x) {
           Extents y = x;
           y.back() = 0;
           return y;
         }},
        {"origin", [](const Extents&) { return Extents{0, 0, 0, 0}; }},
        {"three steps",
         [=](const Extents& x) {
           Extents y = x;
           y[Nd - 2] = (x[Nd - 2] + 3) % e[Nd - 2];
           return y;
         }},
    };
    const auto x = random_lattice<F::ColorMatrix>();
    const auto v = values(x);
    for (const auto& [name, source] : sources) {
      CAPTURE(name);
      const Map map{SimpleMap(source)};
      auto from = [&](std::size_t i) { return places.index(source(places.at(i))); };
      LatticeColorMatrixF r;
      r = map(x);
      check_field("map(x)", r, [&](std::size_t i) { return v[from(i)]; }, 0);
      r = map(adj(x) * shift(x, FORWARD, 1));
      check_field(
          "map of an expression with a shift", r,
          [&](std::size_t i) {
            const std::size_t j = from(i);
            return multiply(reference::adjoint(v[j]), v[places.neighbour(j, 1, 1)]);
          },
          tol<float>(12));
      r = shift(map(map(x)) + x, BACKWARD, Nd - 2);
      check_field(
          "shift of a map of a map", r,
          [&](std::size_t i) {
            const std::size_t j = places.neighbour(i, Nd - 2, -1);
            return add(v[from(from(j))], v[j]);
          },
          tol<float>(2));
    }
  });
}

TEST_CASE("maps restrict where, not whence: on subsets") {
  on_every_lattice([](const Places& places) {
    const Map reflect{SimpleMap([e = places.extents()](const Extents& x) {
      Extents y = x;
      for (int mu = 0; mu < Nd; ++mu) y[mu] = e[mu] - 1 - x[mu];
      return y;
    })};
    const auto src = random_lattice<D::Complex>();
    const auto v = values(src);
    for (const NamedSubset& s : subsets(places.extents())) {
      CAPTURE(s.name);
      auto r = random_lattice<D::Complex>();
      const auto before = values(r);
      r[s.subset] = reflect(src) + shift(src, FORWARD, 0);
      check_field(
          "reflect + shift", r,
          [&](std::size_t i) {
            if (!s.contains(places.at(i))) return before[i];
            Extents y = places.at(i);
            for (int mu = 0; mu < Nd; ++mu) y[mu] = places.extents()[mu] - 1 - y[mu];
            return add(v[places.index(y)], v[places.neighbour(i, 0, 1)]);
          },
          tol<double>(1));
    }
  });
}

TEST_CASE("families of maps with their inverses") {
  on_every_lattice([](const Places& places) {
    const ArrayBiDirectionalMap two(Roll(places.extents(), 2));
    const ArrayMap three(Roll(places.extents(), 3));
    const auto x = random_lattice<D::Real>();
    const auto v = values(x);
    LatticeRealD r;
    for (int mu = 0; mu < Nd; ++mu) {
      for (int sign : kSigns) {
        r = two(x, sign, mu);
        check_field("two steps", r, [&](std::size_t i) { return v[places.neighbour(i, mu, 2 * sign)]; }, 0);
      }
      r = two(two(x, FORWARD, mu), BACKWARD, mu) - three(x, mu);
      check_field(
          "there and back, less three steps", r,
          [&](std::size_t i) { return reference::subtract(v[i], v[places.neighbour(i, mu, 3)]); }, tol<double>(1));
    }
  });
}

TEST_CASE("the shift of a scalar is the scalar") {
  create_lattice({2, 2, 2, 2});
  const auto z = random_scalar<D::Complex>();
  check_site("shift(Complex)", shift(z, FORWARD, 1).elem(), value(z.elem()), 0);
}

TEST_CASE("maps and sets made between statements work at once") {
  const Extents extents{4, 4, 4, 8};
  const int last = Nd - 1, n = extents.back();
  create_lattice(extents);
  const Places places(extents);
  auto x = random_lattice<D::Real>();
  for (int round = 0; round < 3; ++round) {
    const auto v = values(x);
    const Map roll{SimpleMap([round, n](const Extents& y) {
      Extents z = y;
      z.back() = (y.back() + round + 1) % n;
      return z;
    })};
    const Set slices(Coloring(n, [round, n](const Extents& y) { return (y.back() + round) % n; }));
    x[slices[2]] = roll(x);
    check_field(
        "round", x,
        [&](std::size_t i) {
          return (places.at(i).back() + round) % n == 2 ? v[places.neighbour(i, last, round + 1)] : v[i];
        },
        0);
  }
}
