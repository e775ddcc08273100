"""Figure of a calibration: reliability diagram and risk-coverage curve."""

from pathlib import Path

from tfmrc.evaluation.metrics.calibration import CalibrationReport, reliability, risk_coverage
from tfmrc.evaluation.plots.style import COLOURS, panels, save_figure


def plot_calibration(report: CalibrationReport, path: str | Path, *, title: str = "") -> list[Path]:
    """Plots the reliability diagram, before and after, and the risk-coverage curve.

    Args:
        report: `CalibrationReport`. The report.
        path: str or path. The files without their ending.
        title: str. Title of the figure. Default: "".

    Returns:
        The files written.
    """
    figure, (left, right) = panels(2, wide=2)
    left.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":")
    series = (("raw", report.raw), ("calibrated", report.calibrated))
    for (name, chance), colour in zip(series, COLOURS, strict=False):
        means, shares = reliability(chance, report.is_right)
        left.plot(means, shares, marker="o", color=colour, label=name)
    left.set(xlabel="probability", ylabel="share of right answers", xlim=(0, 1), ylim=(0, 1))
    left.legend(frameon=False)
    right.plot(*risk_coverage(report.calibrated, report.is_right), color=COLOURS[1])
    right.set(xlabel="coverage", ylabel="share of wrong answers", xlim=(0, 1), ylim=(0, 1))
    return save_figure(figure, path, title)
