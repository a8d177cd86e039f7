"""Train a linear SVM on real data, watch the duality gap close, and check the proof. Run with `make demo`."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from hinge import LinearSVC, verify

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

print(
    f"Breast cancer (Wisconsin), {X.shape[1]} features, scaled: {len(X_train)} rows to train, {len(X_test)} held out."
)
print()
print("LinearSVC(C=1, tol=1e-4): stop when the objective is proven to be within 0.01 % of the optimum.")
print("Each line is an exact evaluation: dual <= optimum <= primal. (So few rows are solved to the limit of float64.)")
model = LinearSVC(C=1.0, tol=1e-4, store_dual=True, verbose=1).fit(X_train, y_train)
print()

own = model.certificate_
print(f"certificate_ ({model.status_} after {model.n_iter_} passes over the rows)")
print(f"  primal        {own.primal:.10f}    the objective of this model, rounded up")
print(f"  dual          {own.dual:.10f}    no model has a smaller one, rounded down")
print(f"  relative gap  {own.relative_gap:.1e}")

again = verify(model, X_train, y_train)
print("verify(), the same recomputed in plain NumPy from coef_, intercept_ and dual_coef_")
print(f"  primal        {again.primal:.10f}")
print(f"  dual          {again.dual:.10f}")
print()

print("A stochastic solver closes the gap slowly. Pegasos (ICML 2007) with tol=0.25, the intercept penalized:")
slow = LinearSVC(C=1.0, tol=0.25, solver="pegasos", intercept="penalized", verbose=1).fit(X_train, y_train)
print()

print("Accuracy         training rows  held-out rows")
for name, fitted in (("certified 0.01 %", model), ("certified 25 %", slow)):
    print(f"{name:16} {fitted.score(X_train, y_train):13.1%} {fitted.score(X_test, y_test):14.1%}")
print("The certificate is about the optimisation; only held-out rows say how well a model predicts.")
