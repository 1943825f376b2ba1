"""What the validations of a training found, step by step."""

from groundling.run import Run

Curve = tuple[tuple[int, float], ...]


def curve(run: Run) -> Curve:
    """(step, number) of each validation: mR, or the accuracy of statements, the mean over languages."""
    from groundling.training.metrics import read_metrics  # knows torch, which a list of tables does not need

    rows = [(row["step"], row.get("mR", row.get("accuracy"))) for row in read_metrics(run.metrics_file)]
    return tuple((step, number) for step, number in rows if number is not None)
