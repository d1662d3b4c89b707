// Curves over time, and distributions.

import uPlot from "uplot";
import { CURVES, type Ground } from "./colours";
import type { Chart } from "./charts";
import { plain, unit, TIME } from "./text";

export interface Plotted {
  /** Where the slider stands, seconds. */
  mark(time: number): void;
  resize(): void;
  destroy(): void;
}

const HEIGHT = 190;

/** A chart below its title; `seek` is called with the time that was clicked. */
export function plotted(place: HTMLElement, chart: Chart, ground: Ground, seek: (time: number) => void): Plotted {
  const overTime = chart.x === "time";
  const [size, name] = overTime ? unit(chart.end, TIME) : [chart.scale ?? 1, chart.x];
  const [tall, called] = chart.y(largestOf(chart));
  const data: uPlot.AlignedData = [
    chart.xs.map((x) => x / size),
    ...chart.lines.map((line) => Array.from(line.values, (v) => (Number.isFinite(v) ? v / tall : null))),
  ] as uPlot.AlignedData;
  const wide = () => Math.max(place.clientWidth, 200);
  const axis = { stroke: ground.soft, grid: { stroke: ground.line, width: 1 }, ticks: { stroke: ground.line, size: 4 } };
  const text = "11px system-ui, sans-serif";
  const line = document.createElement("div");
  line.className = "tw-mark";
  let shown = 0;
  const mark = (time: number) => {
    shown = time;
    line.style.left = `${plot.valToPos(time / size, "x")}px`;
  };
  const plot: uPlot = new uPlot(
    {
      width: wide(),
      height: HEIGHT,
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      legend: { live: true },
      hooks: { draw: [() => mark(shown)] },
      scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] } },
      axes: [
        { ...axis, font: text, size: 26, gap: 2, label: overTime ? `time (${name})` : name, labelFont: text, labelSize: 16, labelGap: -2 },
        { ...axis, font: text, size: 44, gap: 3, label: called, labelFont: text, labelSize: 16 },
      ],
      series: [
        { label: overTime ? "time" : name, value: (_, v) => (v == null ? "" : plain(v, 4)) },
        ...chart.lines.map((line, n) => ({
          label: line.name,
          stroke: CURVES[n % CURVES.length],
          width: 1.5,
          spanGaps: false,
          paths: chart.steps ? uPlot.paths.stepped!({ align: 1 }) : undefined,
          points: { show: false },
          value: (_: uPlot, v: number | null) => (v == null ? "" : plain(v)),
        })),
      ],
    },
    data,
    place,
  );
  if (overTime) {
    plot.over.append(line);
    plot.over.addEventListener("click", () => {
      const { left } = plot.cursor;
      if (left != null && left >= 0) seek(plot.posToVal(left, "x") * size);
    });
  }
  return {
    mark,
    resize: () => {
      plot.setSize({ width: wide(), height: HEIGHT });
      mark(shown);
    },
    destroy: () => plot.destroy(),
  };
}

function largestOf(chart: Chart): number {
  let most = 0;
  for (const { values } of chart.lines) for (const v of Array.from(values)) if (v > most) most = v;
  return most;
}
