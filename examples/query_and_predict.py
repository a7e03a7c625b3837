"""Ask a network for probabilities, and predict a variable of rows that it has not seen.

Run it from the root of the repository: ``python examples/query_and_predict.py``.
"""

import coevo

# A published network about lung disease; `coevo networks` lists all of them.
asia = coevo.load_network("asia")
print("P(lung cancer)                        ", f"{asia.query('lung')['yes']:.4f}")
given = {"smoke": "yes", "xray": "yes"}
print("P(lung cancer | smoker, positive xray)", f"{asia.query('lung', given=given)['yes']:.4f}")

explanation = asia.most_probable_explanation(given={"dysp": "yes"})
print("Most probable explanation of dyspnoea:", explanation.states)

# Learn from some rows, predict others.
train = coevo.sample(asia, 2000, random_state=1)
test = coevo.sample(asia, 1000, random_state=2)
learned = coevo.learn(train, random_state=0, budget=coevo.Budget(max_generations=5)).network
metrics = learned.predict(test, "bronc").evaluate(test)
print(f"Accuracy for bronchitis on 1,000 other rows: {metrics.accuracy:.3f}")
