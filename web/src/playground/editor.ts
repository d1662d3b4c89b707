// A small editor of TOML, in which errors are underlined where they are.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Of the engine: lines and columns are counted from 1; 0: none. */
export interface Problem {
  text: string;
  line?: number;
  column?: number;
  key?: string;
}

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--number)" },
  { tag: [tags.propertyName, tags.variableName, tags.definition(tags.variableName)], color: "var(--key)" },
  { tag: [tags.heading, tags.keyword, tags.bracket], color: "var(--ink)", fontWeight: "600" },
]);

export class Editor {
  private readonly view: EditorView;

  constructor(place: HTMLElement, on: { run(): void; change(): void }) {
    const state = EditorState.create({
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        lintGutter(),
        StreamLanguage.define(toml),
        syntaxHighlighting(colours),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "scenario" }),
        EditorView.updateListener.of((update) => update.docChanged && on.change()),
        keymap.of([{ key: "Mod-Enter", run: () => (on.run(), true) }, indentWithTab, ...defaultKeymap, ...historyKeymap]),
      ],
    });
    this.view = new EditorView({ state, parent: place });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.mark([]);
  }

  /** Underlines what is wrong. */
  mark(problems: Problem[]): void {
    const { doc } = this.view.state;
    const found: Diagnostic[] = problems
      .filter(({ line }) => line && line <= doc.lines)
      .map(({ line, column, text }) => {
        const where = doc.line(line!);
        const from = column ? Math.min(where.from + column - 1, where.to) : where.from;
        return { from, to: where.to, severity: "error", message: text };
      });
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }

  /** Goes to a line. */
  show(line: number): void {
    const at = this.view.state.doc.line(Math.min(line, this.view.state.doc.lines)).from;
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.view.focus();
  }
}
