"""A measured complexity as people read it: `1 leaf`, `about 358 neighbourhoods`."""


def mean_size(value: float | None, unit: str) -> str:
    """A mean complexity over folds, in its unit; a dash where it is not known.

    >>> mean_size(1.0, "leaves"), mean_size(12.0, "leaves"), mean_size(358.2, "neighbourhoods"), mean_size(7.25, "rules")
    ('1 leaf', '12 leaves', 'about 358 neighbourhoods', '7.2 rules on average')
    """
    if value is None:
        return "–"
    if value == 1:
        return f"1 {unit.removesuffix('leaves')}leaf" if unit.endswith("leaves") else f"1 {_singular(unit)}"
    if value == round(value):
        return f"{value:,.0f} {unit}"
    return f"about {value:,.0f} {unit}" if value >= 100 else f"{value:.1f} {unit} on average"


def _singular(unit: str) -> str:
    """Return the singular of a unit of complexity.

    >>> _singular("table entries"), _singular("neighbourhoods")
    ('table entry', 'neighbourhood')
    """
    return f"{unit.removesuffix('ies')}y" if unit.endswith("ies") else unit.removesuffix("s")
