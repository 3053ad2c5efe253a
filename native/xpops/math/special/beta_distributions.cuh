// Distributions that are incomplete beta functions: binomial, negative binomial, F, Student's t.
#pragma once

#include "xpops/math/special/incomplete_beta.cuh"

namespace xpops {

struct Bdtr {
  template <class T> XPOPS_DEVICE T operator()(T k, T n, T p) const {
    const T whole = floor(k), rest = trunc(n) - whole;
    if (!(whole >= 0 && rest >= 0 && isfinite(rest)) || !detail::is_share(p)) return detail::kNan<T>;
    if (rest == 0) return 1;
    return whole == 0 ? detail::power_of_rest(p, rest) : detail::beta_share(rest, whole + 1, {1 - p, p}, false);
  }
};

struct Bdtrc {
  template <class T> XPOPS_DEVICE T operator()(T k, T n, T p) const {
    const T whole = floor(k), rest = trunc(n) - whole;
    if (!(rest >= 0 && isfinite(rest)) || !detail::is_share(p)) return detail::kNan<T>;
    if (whole < 0 || rest == 0) return whole < 0;
    return whole == 0 ? -expm1(rest * log1p(-p)) : detail::beta_share(whole + 1, rest, {p, 1 - p}, false);
  }
};

struct Bdtri {
  template <class T> XPOPS_DEVICE T operator()(T k, T n, T y) const {
    const T whole = floor(k), rest = trunc(n) - whole;
    if (!(whole >= 0 && rest > 0 && isfinite(rest)) || !detail::is_share(y)) return detail::kNan<T>;
    return whole == 0 ? -expm1(log(y) / rest) : detail::BetaQuantile<T>(rest, whole + 1, y, 1 - y).y;
  }
};

struct Nbdtr {
  template <class T> XPOPS_DEVICE T operator()(T k, T n, T p) const {
    return !(k > -1 && n >= 1) ? detail::kNan<T> : detail::beta_share(trunc(n), trunc(k) + 1, {p, 1 - p}, false);
  }
};

struct Nbdtrc {
  template <class T> XPOPS_DEVICE T operator()(T k, T n, T p) const {
    return !(k > -1 && n >= 1) ? detail::kNan<T> : detail::beta_share(trunc(n), trunc(k) + 1, {p, 1 - p}, true);
  }
};

struct Nbdtri {
  template <class T> XPOPS_DEVICE T operator()(T k, T n, T y) const {
    return !(k > -1 && n >= 1) ? detail::kNan<T> : detail::BetaQuantile<T>(trunc(n), trunc(k) + 1, y, 1 - y).x;
  }
};

struct Fdtr {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T x) const { return detail::f_share(a, b, x, false); }
};

struct Fdtrc {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T x) const { return detail::f_share(a, b, x, true); }
};

struct Fdtri {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T p) const {
    const detail::BetaQuantile<T> w(a / 2, b / 2, p, 1 - p);
    return w.x / w.y * b / a;
  }
};

struct Stdtr {
  template <class T> XPOPS_DEVICE T operator()(T df, T t) const {
    if (!(df > 0) || isnan(t)) return detail::kNan<T>;
    if (isinf(df)) return Ndtr()(t);
    const T tail = detail::student_tail(df, abs(t));
    return t < 0 ? tail : 1 - tail;
  }
};

struct Stdtrit {
  template <class T> XPOPS_DEVICE T operator()(T df, T p) const {
    if (!(df > 0) || !detail::is_share(p)) return detail::kNan<T>;
    if (isinf(df)) return detail::normal_quantile(p);
    const T q = 1 - p, tail = p < q ? p : q;
    const detail::BetaQuantile<T> w(df / 2, T(0.5), 2 * tail, abs(fma(T(-2), p, T(1))));
    const T size = sqrt(df) * sqrt(w.y / w.x);
    return p < q ? -size : size;
  }
};

}  // namespace xpops
