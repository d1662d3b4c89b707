// Numbers for people.

function scaled(value: number, units: [number, string][], digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${units.find(([size]) => size === 1)![1]}`;
  const [size, unit] = units.find(([least]) => Math.abs(value) >= least * 0.9995) ?? units[units.length - 1];
  return `${plain(value / size, digits)} ${unit}`;
}

/** So many digits that say something, and no exponent. */
export function plain(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 10 ** digits) return Math.round(value).toLocaleString("en").replaceAll(",", " ");
  return String(Number(value.toPrecision(digits)));
}

export const seconds = (value: number, digits = 3) =>
  scaled(value, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]], digits);
export const bytes = (value: number) => scaled(value, [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]]);
export const rate = (value: number) =>
  scaled(value, [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "b/s"]]);
export const percent = (share: number) => (Number.isFinite(share) ? `${plain(100 * share)} %` : "–");

/** The unit in which an axis up to `most` is written: its size and its name. */
export function unit(most: number, units: [number, string][]): [number, string] {
  return units.find(([size]) => most >= size) ?? units[units.length - 1];
}
export const TIME: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
export const BYTES: [number, string][] = [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]];
export const RATE: [number, string][] = [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"]];
