// The time slider, its button and its speed.

import { seconds } from "./text";

export interface Controls {
  /** Goes to an instant, seconds. */
  seek(time: number): void;
  stop(): void;
}

/** How long a whole run is played, seconds, at each speed. */
const SPEEDS: [string, number][] = [["slow", 40], ["normal", 15], ["fast", 5]];

export function controls(place: HTMLElement, times: Float64Array, shown: (time: number) => void): Controls {
  place.innerHTML = `
    <button type="button" class="tw-play" aria-label="play">▶</button>
    <input type="range" class="tw-time" min="0" max="${times.length - 1}" step="1" value="0" aria-label="time">
    <output class="tw-now"></output>
    <select class="tw-speed" aria-label="speed">${SPEEDS.map(([name]) => `<option>${name}</option>`).join("")}</select>`;
  const [button, slider, now, speed] = ["button", "input", "output", "select"].map((tag) => place.querySelector(tag)!) as
    [HTMLButtonElement, HTMLInputElement, HTMLOutputElement, HTMLSelectElement];
  speed.selectedIndex = 1;
  let playing = 0;
  let [at, last] = [0, 0];

  const go = (n: number) => {
    at = Math.min(Math.max(n, 0), times.length - 1);
    const time = times[Math.round(at)];
    slider.value = String(Math.round(at));
    now.value = seconds(time, 4);
    slider.setAttribute("aria-valuetext", now.value);
    shown(time);
  };
  const stop = () => {
    cancelAnimationFrame(playing);
    playing = 0;
    button.textContent = "▶";
    button.setAttribute("aria-label", "play");
  };
  const next = (clock: number) => {
    if (!place.isConnected) return stop();
    const whole = SPEEDS[speed.selectedIndex][1];
    go(at + (((clock - last) / 1000) * (times.length - 1)) / whole);
    last = clock;
    if (at >= times.length - 1) stop();
    else playing = requestAnimationFrame(next);
  };
  button.onclick = () => {
    if (playing) return stop();
    if (at >= times.length - 1) at = 0;
    button.textContent = "❚❚";
    button.setAttribute("aria-label", "pause");
    last = performance.now();
    playing = requestAnimationFrame(next);
  };
  slider.oninput = () => {
    stop();
    go(Number(slider.value));
  };
  return {
    stop,
    seek: (time) => {
      stop();
      let nearest = 0;
      for (let n = 0; n < times.length; n++) if (Math.abs(times[n] - time) < Math.abs(times[nearest] - time)) nearest = n;
      go(nearest);
    },
  };
}
