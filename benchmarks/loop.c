/* The loops that the native epochs are measured against: one epoch of sgd-s and of dual coordinate descent without
 * shrinking, as one would write them by hand for one kind of rows, one cost C and no intercept.
 *
 * Compiled by micro.py with -DVALUE=double or -DVALUE=float (the type of the stored values).
 * `order` lists the rows of the epoch. `ahead` > 0 fetches the row that many steps ahead from memory. */

#include <stdint.h>

typedef VALUE value;

typedef struct {
  double loss;   /* sum of C hinge_k, each at its presentation */
  double r;      /* |a|^2 */
  double errors; /* sum of counts */
  int64_t t;     /* presentations */
} sgd_state;

static double dot_csr(const value *x, const int32_t *index, int64_t p, int64_t end, const double *w) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (; p + 4 <= end; p += 4) {
    s0 += x[p] * w[index[p]];
    s1 += x[p + 1] * w[index[p + 1]];
    s2 += x[p + 2] * w[index[p + 2]];
    s3 += x[p + 3] * w[index[p + 3]];
  }
  if (p < end) s0 += x[p] * w[index[p]];
  if (p + 1 < end) s1 += x[p + 1] * w[index[p + 1]];
  if (p + 2 < end) s2 += x[p + 2] * w[index[p + 2]];
  return (s0 + s1) + (s2 + s3);
}

static void add_csr(const value *x, const int32_t *index, int64_t p, int64_t end, double scale, double *w) {
  for (; p < end; ++p) w[index[p]] += scale * x[p];
}

static void fetch_csr(const value *x, const int32_t *index, int64_t p) {
  __builtin_prefetch(x + p);
  __builtin_prefetch(x + p + 64 / sizeof(value));
  __builtin_prefetch(index + p);
  __builtin_prefetch(index + p + 16);
}

static double dot_dense(const value *x, int64_t d, const double *w) {
  double s[8] = {0};
  int64_t j = 0;
  for (; j + 8 <= d; j += 8) {
    for (int k = 0; k < 8; ++k) s[k] += x[j + k] * w[j + k];
  }
  for (int k = 0; j < d; ++j, ++k) s[k] += x[j] * w[j];
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

static void add_dense(const value *x, int64_t d, double scale, double *w) {
  for (int64_t j = 0; j < d; ++j) w[j] += scale * x[j];
}

/* The threshold test of sgd-s on a row with p = a . y_k and q = |y_k|^2; true on a margin error. */
static int margin_error(sgd_state *s, double p, double q, double C, double lambda) {
  const double theta = lambda * (double)s->t++;
  if (p > theta) return 0;
  s->loss += C * (theta > 0 ? 1 - p / theta : 1);
  s->r += 2 * p + q;
  s->errors += 1;
  return 1;
}

static double clip(double a, double C) { return a < 0 ? 0 : a > C ? C : a; }

void sgd_csr(int64_t m, int64_t d, const value *x, const int32_t *index, const int32_t *indptr, const int8_t *y,
             const double *norms, double C, const int64_t *order, int64_t ahead, double *a, int64_t *counts, sgd_state *s) {
  const double lambda = 1 / (C * (double)m);
  (void)d;
  s->loss = 0;
  for (int64_t step = 0; step < m; ++step) {
    if (ahead > 0 && step + ahead < m) fetch_csr(x, index, indptr[order[step + ahead]]);
    const int64_t k = order[step], begin = indptr[k], end = indptr[k + 1];
    const double p = y[k] * dot_csr(x, index, begin, end, a);
    if (margin_error(s, p, norms[k], C, lambda)) {
      add_csr(x, index, begin, end, y[k], a);
      ++counts[k];
    }
  }
}

void dcd_csr(int64_t m, int64_t d, const value *x, const int32_t *index, const int32_t *indptr, const int8_t *y,
             const double *norms, double C, const int64_t *order, int64_t ahead, double *w, double *a) {
  (void)d;
  for (int64_t step = 0; step < m; ++step) {
    if (ahead > 0 && step + ahead < m) fetch_csr(x, index, indptr[order[step + ahead]]);
    const int64_t i = order[step], begin = indptr[i], end = indptr[i + 1];
    const double g = y[i] * dot_csr(x, index, begin, end, w) - 1;
    const double next = clip(a[i] - g / norms[i], C);
    if (next != a[i]) {
      add_csr(x, index, begin, end, (next - a[i]) * y[i], w);
      a[i] = next;
    }
  }
}

void sgd_dense(int64_t m, int64_t d, const value *x, const int32_t *index, const int32_t *indptr, const int8_t *y,
               const double *norms, double C, const int64_t *order, int64_t ahead, double *a, int64_t *counts, sgd_state *s) {
  const double lambda = 1 / (C * (double)m);
  (void)index, (void)indptr;
  s->loss = 0;
  for (int64_t step = 0; step < m; ++step) {
    if (ahead > 0 && step + ahead < m) __builtin_prefetch(x + order[step + ahead] * d);
    const int64_t k = order[step];
    const double p = y[k] * dot_dense(x + k * d, d, a);
    if (margin_error(s, p, norms[k], C, lambda)) {
      add_dense(x + k * d, d, y[k], a);
      ++counts[k];
    }
  }
}

void dcd_dense(int64_t m, int64_t d, const value *x, const int32_t *index, const int32_t *indptr, const int8_t *y,
               const double *norms, double C, const int64_t *order, int64_t ahead, double *w, double *a) {
  (void)index, (void)indptr;
  for (int64_t step = 0; step < m; ++step) {
    if (ahead > 0 && step + ahead < m) __builtin_prefetch(x + order[step + ahead] * d);
    const int64_t i = order[step];
    const double g = y[i] * dot_dense(x + i * d, d, w) - 1;
    const double next = clip(a[i] - g / norms[i], C);
    if (next != a[i]) {
      add_dense(x + i * d, d, (next - a[i]) * y[i], w);
      a[i] = next;
    }
  }
}
