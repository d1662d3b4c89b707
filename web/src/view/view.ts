// A run, seen: its network with a time slider, curves, flows. The page, notebooks and reports all use this.

import curvesCss from "uplot/dist/uPlot.min.css?inline";
import { charts } from "./charts";
import { type Ground, ground } from "./colours";
import { controls } from "./controls";
import { type Plotted, plotted } from "./curves";
import type { Run } from "./data";
import { Film } from "./film";
import { type Drawing, MOST_LINKS, draw } from "./network";
import { bytes } from "./text";
import ownCss from "./view.css?inline";
import { escaped, flowTable, headline, port } from "./words";

export interface View {
  destroy(): void;
}

const STYLE = "thalweg-view-style";

/** Shows a run in an element, in place of what is there. */
export function mount(place: HTMLElement, run: Run): View {
  if (!document.getElementById(STYLE)) {
    const style = Object.assign(document.createElement("style"), { id: STYLE, textContent: curvesCss + ownCss });
    document.head.append(style);
  }
  const film = new Film(run);
  place.innerHTML = `<div class="tw-view">
    <dl class="tw-head">${headline(film).map(fact).join("")}</dl>
    <div class="tw-network"></div>
    <p class="tw-look" aria-live="off"></p>
    <div class="tw-controls"></div>
    <div class="tw-legend"></div>
    <div class="tw-charts"></div>
    <details><summary>Flows</summary>${flowTable(film)}</details>
    <details><summary>Resolved scenario, every default written out</summary><pre>${escaped(run.scenario)}</pre></details>
    <p class="tw-soft">digest ${escaped(run.summary.digest)}</p></div>`;
  const view = place.firstElementChild as HTMLElement;
  const part = (name: string) => view.querySelector<HTMLElement>(`.tw-${name}`)!;
  const [network, look, legend, curves] = ["network", "look", "legend", "charts"].map(part);

  let now = film.times[0] ?? 0;
  let watched: number | null = null;
  const say = () => {
    look.textContent =
      watched === null ? "Point at a half of a link: it is the direction that leaves its end." : port(film, watched, now);
  };
  let drawing: Drawing | null = null;
  const drawable = film.links.length > 0 && film.links.length <= MOST_LINKS;
  if (drawable) {
    drawing = draw(network, film, {
      look: (one) => {
        watched = one;
        say();
      },
    });
    say();
  } else {
    network.remove();
    look.textContent = `A network of ${film.links.length} links is not drawn: of more than ${MOST_LINKS} nothing is seen.`;
  }

  let plots: Plotted[] = [];
  const seek = (time: number) => slider?.seek(time);
  const paint = () => {
    const colours = ground(view);
    drawing?.paint(colours);
    legend.innerHTML = drawable ? legendOf(film, colours) : "";
    plots.forEach((plot) => plot.destroy());
    curves.replaceChildren();
    plots = charts(film).map((chart) => {
      const figure = document.createElement("figure");
      figure.dataset.chart = chart.id;
      figure.innerHTML = `<figcaption>${escaped(chart.title)}</figcaption>`;
      curves.append(figure);
      return plotted(figure, chart, colours, seek);
    });
    plots.forEach((plot) => plot.mark(now));
  };
  const shown = (time: number) => {
    now = time;
    drawing?.show(film.at(time));
    plots.forEach((plot) => plot.mark(time));
    if (watched !== null) say();
  };
  paint();
  const slider = film.times.length > 1 ? controls(part("controls"), film.times, shown) : null;
  // Where most waits: an empty network says little.
  slider?.seek(fullest(film));

  let width = view.clientWidth;
  const sized = new ResizeObserver(() => {
    if (view.clientWidth === width || !view.clientWidth) return;
    width = view.clientWidth;
    drawing?.fit();
    plots.forEach((plot) => plot.resize());
  });
  sized.observe(view);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", paint);
  return {
    destroy: () => {
      slider?.stop();
      sized.disconnect();
      scheme.removeEventListener("change", paint);
      plots.forEach((plot) => plot.destroy());
      drawing?.destroy();
      place.replaceChildren();
    },
  };
}

const fact = ([what, value, bad]: [string, string, boolean]) =>
  `<div${bad ? ' class="tw-bad"' : ""}><dt>${escaped(what)}</dt><dd>${escaped(value)}</dd></div>`;

/** When the queues held most in all. */
function fullest(film: Film): number {
  let [best, most] = [0, -1];
  film.queues?.times.forEach((_, n) => {
    let all = 0;
    for (const { bytes: waiting } of film.queues!.of.values()) all += waiting[n] || 0;
    if (all > most) [best, most] = [n, all];
  });
  return film.times[best] ?? 0;
}

function legendOf(film: Film, c: Ground): string {
  const swatch = (style: string, text: string) => `<span><i style="${style}"></i>${text}</span>`;
  const bar = `linear-gradient(90deg,${c.queue},${c.full})`;
  return [
    film.longest
      ? swatch(`background:${bar};height:8px`, `queue; a full bar is the longest, ${bytes(film.longest)}`)
      : swatch(`background:${bar};height:8px`, "queue; none has formed"),
    swatch(`background:linear-gradient(90deg,${c.idle},${c.busy})`, "link, idle to busy"),
    film.run.tables.pauses ? swatch(`border-top:3px dashed ${c.pause};height:0`, "paused") : "",
    `<span><b style="color:${c.drop}">✕</b> packets dropped</span>`,
  ].join("");
}

/** What anywidget calls. */
export default {
  render({ model, el }: { model: { get(name: string): string }; el: HTMLElement }) {
    return mount(el, JSON.parse(model.get("run"))).destroy;
  },
};
