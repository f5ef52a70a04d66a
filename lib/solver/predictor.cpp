#include "lib/solver/predictor.hpp"

#include "lib/solver/galerkin.hpp"

namespace qcd {

using namespace QDP;

template <class F>
void ZeroGuess<F>::guess(F& x, const SystemOperator<F>& system, const F&) const {
  x[system.m.domain()] = zero;
}

template <class F>
void History<F>::store(const F& x, const Subset& sites) {
  F kept;
  if (past_.size() == depth_ && depth_ > 0) {
    kept = std::move(past_.back());
    past_.pop_back();
  }
  kept[sites] = x;
  if (depth_ > 0) past_.push_front(std::move(kept));
}

template <class F>
void LastSolution<F>::guess(F& x, const SystemOperator<F>& system, const F&) const {
  const Subset& s = system.m.domain();
  if (this->past().empty())
    x[s] = zero;
  else
    x[s] = this->past()[0];
}

template <class F>
void LinearExtrapolation<F>::guess(F& x, const SystemOperator<F>& system, const F&) const {
  const Subset& s = system.m.domain();
  const auto& past = this->past();
  if (past.empty())
    x[s] = zero;
  else if (past.size() == 1)
    x[s] = past[0];
  else
    x[s] = RealOf<F>(2) * past[0] - past[1];
}

template <class F>
void MinimalResidualExtrapolation<F>::guess(F& x, const SystemOperator<F>& system, const F& b) const {
  const Subset& s = system.m.domain();
  const auto& past = this->past();
  if (past.empty()) {
    x[s] = zero;
  } else if (past.size() == 1) {
    x[s] = past[0];  // as it is, without the application that its weight would cost
  } else {
    std::vector<const F*> vectors;
    for (const F& solution : past) vectors.push_back(&solution);
    NormalMatrix<F> a(system.m);
    galerkin_guess<F>(x, a, b, vectors);
  }
}

template <class F>
const Table<std::unique_ptr<Predictor<F>>>& predictor_table() {
  using Made = std::unique_ptr<Predictor<F>>;
  static const Table<Made> table(
      "a chronological predictor",
      {
          {"ZERO_GUESS_4D_PREDICTOR", "x = 0", [](const Input&) -> Made { return std::make_unique<ZeroGuess<F>>(); }},
          {"ZERO_SOLUTION_4D_PREDICTOR", "another name of it",
           [](const Input&) -> Made { return std::make_unique<ZeroGuess<F>>(); }},
          {"NULL_4D_PREDICTOR", "x as it was: nought in a force",
           [](const Input&) -> Made { return std::make_unique<NoPredictor<F>>(); }},
          {"LAST_SOLUTION_4D_PREDICTOR", "the solution of the last force",
           [](const Input&) -> Made { return std::make_unique<LastSolution<F>>(); }},
          {"LINEAR_EXTRAPOLATION_4D_PREDICTOR", "2 x_1 - x_2 of the last two solutions",
           [](const Input&) -> Made { return std::make_unique<LinearExtrapolation<F>>(); }},
          {"MINIMAL_RESIDUAL_EXTRAPOLATION_4D_PREDICTOR",
           "MaxChrono: the best combination of the last MaxChrono solutions",
           [](const Input& in) -> Made {
             return std::make_unique<MinimalResidualExtrapolation<F>>(in.integer("MaxChrono", at_least(1)));
           }},
      });
  return table;
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template class ZeroGuess<F>;                                                                                         \
  template class History<F>;                                                                                           \
  template class LastSolution<F>;                                                                                      \
  template class LinearExtrapolation<F>;                                                                               \
  template class MinimalResidualExtrapolation<F>;                                                                      \
  template const Table<std::unique_ptr<Predictor<F>>>& predictor_table<F>();
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE

}  // namespace qcd
