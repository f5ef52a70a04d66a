// Real numbers of many digits: MPFR with operators. Private to lib/rational.
//
//   WorkingPrecision digits(400);      // bits of every Number made in this scope by this thread
//   Number x = sqrt(Number(2)) / 3;
#pragma once

#include <mpfr.h>

#include <utility>

namespace qcd::rational {

/// The precision of new numbers while this object lives. Numbers keep the precision that they were made with.
class WorkingPrecision {
 public:
  explicit WorkingPrecision(long bits) : before_(mpfr_get_default_prec()) { mpfr_set_default_prec(bits); }
  ~WorkingPrecision() {
    mpfr_set_default_prec(before_);
    mpfr_free_cache();  // pi and log 2 of this thread
  }
  WorkingPrecision(const WorkingPrecision&) = delete;
  WorkingPrecision& operator=(const WorkingPrecision&) = delete;

 private:
  mpfr_prec_t before_;
};

class Number {
 public:
  Number(double value = 0) : Number(Unset{}) { mpfr_set_d(value_, value, MPFR_RNDN); }
  Number(int value) : Number(Unset{}) { mpfr_set_si(value_, value, MPFR_RNDN); }
  Number(const Number& other) : Number(Unset{}) { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Number(Number&& other) noexcept : value_{*other.value_} { other.value_->_mpfr_d = nullptr; }
  Number& operator=(Number other) noexcept {
    std::swap(*value_, *other.value_);
    return *this;
  }
  ~Number() {
    if (value_->_mpfr_d) mpfr_clear(value_);
  }

  static Number pi() { return with(mpfr_const_pi); }
  /// 2^n.
  static Number power_of_two(long n) {
    Number result(1);
    mpfr_mul_2si(result.value_, result.value_, n, MPFR_RNDN);
    return result;
  }

  double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }
  int sign() const { return mpfr_sgn(value_); }
  bool finite() const { return mpfr_number_p(value_) != 0; }

  Number operator-() const { return with(mpfr_neg, value_); }
  Number& operator+=(const Number& b) { return set(mpfr_add, b); }
  Number& operator-=(const Number& b) { return set(mpfr_sub, b); }
  Number& operator*=(const Number& b) { return set(mpfr_mul, b); }
  Number& operator/=(const Number& b) { return set(mpfr_div, b); }
  /// *this += a b, rounded once.
  Number& add_product(const Number& a, const Number& b) {
    mpfr_fma(value_, a.value_, b.value_, value_, MPFR_RNDN);
    return *this;
  }

  friend Number operator+(Number a, const Number& b) { return std::move(a += b); }
  friend Number operator-(Number a, const Number& b) { return std::move(a -= b); }
  friend Number operator*(Number a, const Number& b) { return std::move(a *= b); }
  friend Number operator/(Number a, const Number& b) { return std::move(a /= b); }
  friend bool operator<(const Number& a, const Number& b) { return mpfr_less_p(a.value_, b.value_) != 0; }
  friend bool operator>(const Number& a, const Number& b) { return b < a; }

  friend Number abs(const Number& x) { return with(mpfr_abs, x.value_); }
  friend Number sqrt(const Number& x) { return with(mpfr_sqrt, x.value_); }
  friend Number exp(const Number& x) { return with(mpfr_exp, x.value_); }
  friend Number log(const Number& x) { return with(mpfr_log, x.value_); }
  friend Number sin(const Number& x) { return with(mpfr_sin, x.value_); }
  friend Number cos(const Number& x) { return with(mpfr_cos, x.value_); }
  friend Number asin(const Number& x) { return with(mpfr_asin, x.value_); }
  friend Number cosh(const Number& x) { return with(mpfr_cosh, x.value_); }

 private:
  struct Unset {};
  explicit Number(Unset) { mpfr_init(value_); }

  template <class Function, class... Arguments>
  static Number with(Function function, const Arguments&... arguments) {
    Number result(Unset{});
    function(result.value_, arguments..., MPFR_RNDN);
    return result;
  }
  template <class Function>
  Number& set(Function function, const Number& b) {
    function(value_, value_, b.value_, MPFR_RNDN);
    return *this;
  }

  mpfr_t value_;
};

}  // namespace qcd::rational
