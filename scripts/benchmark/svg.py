"""Enough SVG for a plot: axes, lines, marks and text, in a style that reads on white and on dark pages."""

import math
from xml.sax.saxutils import escape

INK, FAINT, PAPER = "#24292f", "#d0d7de", "#ffffff"
FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
# Okabe and Ito's colours, told apart by colour-blind readers.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")


class Plot:
    """A frame of `width` × `height` with logarithmic or linear axes; x and y in the data's units."""

    def __init__(self, title, x_range, y_range, x_log=False, y_log=False, width=860, height=520, right=30):
        self.width, self.height = width, height
        self.left, self.right, self.top, self.bottom = 68, right, 44, 52
        self.x_range, self.y_range, self.x_log, self.y_log = x_range, y_range, x_log, y_log
        self.parts = [f'<rect width="{width}" height="{height}" fill="{PAPER}"/>']
        self.text(self.left, 26, title, size=16, weight="600", anchor="start", data=False)

    def x(self, value):
        return self.left + self._share(value, self.x_range, self.x_log) * (self.width - self.left - self.right)

    def y(self, value):
        return self.height - self.bottom - self._share(value, self.y_range, self.y_log) * (
            self.height - self.top - self.bottom)

    @staticmethod
    def _share(value, bounds, is_log):
        low, high = bounds
        if is_log:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)

    def text(self, x, y, text, size=12, anchor="middle", fill=INK, rotate=0, weight="400", data=True):
        """`data`: x and y are in the data's units, else in pixels."""
        px, py = (self.x(x), self.y(y)) if data else (x, y)
        turn = f' transform="rotate({rotate:.1f} {px:.1f} {py:.1f})"' if rotate else ""
        self.parts.append(f'<text x="{px:.1f}" y="{py:.1f}" font-size="{size}" font-weight="{weight}" fill="{fill}" '
                          f'text-anchor="{anchor}"{turn}>{escape(text)}</text>')

    def line(self, points, color=INK, width=1.5, dash="", opacity=1.0, title=""):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        note = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}" '
                          f'stroke-linejoin="round" opacity="{opacity}"{dashes}>{note}</polyline>')

    def area(self, upper, lower, color, opacity=0.18):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in list(upper) + list(reversed(lower)))
        self.parts.append(f'<polygon points="{path}" fill="{color}" opacity="{opacity}"/>')

    def mark(self, x, y, color, filled, title="", radius=4.5):
        self.mark_at(self.x(x), self.y(y), color, filled, title, radius)

    def mark_at(self, px, py, color, filled, title="", radius=4.5):
        note = f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="{radius}" fill="{color if filled else PAPER}" '
                          f'stroke="{color}" stroke-width="1.5">{note}</circle>')

    def axes(self, x_ticks, y_ticks, x_title, y_title):
        """Ticks: (value, text)."""
        bottom, right = self.height - self.bottom, self.width - self.right
        grid = []
        for value, text in x_ticks:
            px = self.x(value)
            grid.append(f'<line x1="{px:.1f}" y1="{self.top}" x2="{px:.1f}" y2="{bottom}" stroke="{FAINT}"/>')
            self.text(px, bottom + 18, text, data=False)
        for value, text in y_ticks:
            py = self.y(value)
            grid.append(f'<line x1="{self.left}" y1="{py:.1f}" x2="{right}" y2="{py:.1f}" stroke="{FAINT}"/>')
            self.text(self.left - 8, py + 4, text, anchor="end", data=False)
        self.parts[1:1] = grid  # behind everything
        self.text((self.left + right) / 2, self.height - 12, x_title, size=13, data=False)
        self.text(18, (self.top + bottom) / 2, y_title, size=13, rotate=-90, data=False)

    def legend(self, entries, x, y, step=19):
        """(color, filled or None for a line, text), downwards from pixel (x, y)."""
        for number, (color, filled, text) in enumerate(entries):
            py = y + number * step
            if filled is None:
                self.parts.append(f'<line x1="{x - 8}" y1="{py}" x2="{x + 8}" y2="{py}" stroke="{color}" '
                                  f'stroke-width="2.5"/>')
            else:
                self.mark_at(x, py, color, filled)
            self.text(x + 14, py + 4, text, anchor="start", data=False)

    def render(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'font-family="{FONT}">\n' + "\n".join(self.parts) + "\n</svg>\n")


def decades(low, high):
    """Ticks 1, 10, 100, ... inside [low, high]."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [(10.0**power, f"{10.0**power:g}") for power in range(first, last + 1)]
