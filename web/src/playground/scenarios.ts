// The ready scenarios: files of the project's own format, in which the comment at the top is the title and what to try.

const files = import.meta.glob("../../../python/thalweg/examples/scenarios/*.toml", {
  query: "?raw",
  import: "default",
  eager: true,
}) as Record<string, string>;

export interface Ready {
  /** Of the file, without its number. */
  name: string;
  title: string;
  about: string;
  text: string;
}

export const ready: Ready[] = Object.keys(files).sort().map((path) => {
  const lines = files[path].split("\n");
  const head = lines.slice(0, lines.findIndex((line) => !line.startsWith("#"))).map((line) => line.replace(/^# ?/, ""));
  const name = path.replace(/^.*\/\d+-|\.toml$/g, "");
  const text = lines.slice(head.length).join("\n");
  return { name, title: head[0], about: head.slice(1).join(" "), text };
});
