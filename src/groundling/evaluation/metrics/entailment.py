"""The metrics of entailment: how many statements are judged right, and how sure the model was of the truth."""

from groundling.evaluation.metrics.metric import UNBOUNDED, EntailmentMetric, SeenStatementMetric

ACCURACY = EntailmentMetric(
    name="accuracy",
    about="Accuracy: share of statements, in percent, that are judged right",
    compute=lambda found: 100 * float(found.right.mean()),
)
LOG_LOSS = EntailmentMetric(
    name="log_loss",
    label="loss",
    about="Loss: mean of −ln of the probability of the true label; a third each is 1.099",
    better="low",
    highest=UNBOUNDED,
    decimals=3,
    unit="",
    compute=lambda found: found.log_loss(),
)
CALIBRATION_ERROR = EntailmentMetric(
    name="calibration_error",
    label="calibration error",
    about="Calibration error: how far sureness is from accuracy, in percent",
    better="low",
    in_tables=False,  # it has a table of its own
    compute=lambda found: found.calibration()[0],
)
SEEN_ACCURACY = SeenStatementMetric(
    name="seen_accuracy",
    label="accuracy, seen",
    about="Accuracy, seen: of statements that are in training word for word, about other pictures",
)
NEW_ACCURACY = SeenStatementMetric(
    name="new_accuracy", label="accuracy, new", about="Accuracy, new: of statements that are not in training"
)
