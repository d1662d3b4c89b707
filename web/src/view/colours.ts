// Colours on light and on dark ground.

/** Of curves: told apart by people who see few colours (Okabe and Ito). */
export const CURVES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a", "#b8860b"];

export interface Ground {
  ink: string;
  soft: string;
  line: string;
  paper: string;
  idle: string;
  busy: string;
  queue: string;
  full: string;
  pause: string;
  drop: string;
}

const LIGHT: Ground = {
  ink: "#1b1f24", soft: "#5c6570", line: "#d9dee4", paper: "#ffffff",
  idle: "#cdd5de", busy: "#0b62c4", queue: "#f0a31c", full: "#d43a2a", pause: "#8e2fb8", drop: "#c62828",
};
const DARK: Ground = {
  ink: "#e6e9ed", soft: "#9aa4af", line: "#31373e", paper: "#14171a",
  idle: "#3a434d", busy: "#58a6ff", queue: "#e3a72f", full: "#ff6b5a", pause: "#d28cf5", drop: "#ff7b72",
};

/** Dark where the page writes in a light colour. */
export function ground(element: Element): Ground {
  const [r, g, b] = (getComputedStyle(element).color.match(/[\d.]+/g) ?? ["0", "0", "0"]).map(Number);
  return 0.3 * r + 0.59 * g + 0.11 * b > 128 ? DARK : LIGHT;
}

/** Between two colours (`#rrggbb`), by a share of 0 to 1. */
export function mixed(from: string, to: string, share: number): string {
  const part = (colour: string, n: number) => parseInt(colour.slice(1 + 2 * n, 3 + 2 * n), 16);
  const at = Math.min(Math.max(share, 0), 1);
  const one = (n: number) => Math.round(part(from, n) + at * (part(to, n) - part(from, n)));
  return `rgb(${one(0)},${one(1)},${one(2)})`;
}
