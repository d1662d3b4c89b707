"""Completion scripts, generated from the parser: they cannot drift from it."""

from __future__ import annotations

import argparse
from argparse import Namespace

from thalweg.cli import OK
from thalweg.cli.asking import kinds
from thalweg.cli.parser import build


def completion(args: Namespace) -> int:
    print({"bash": bash, "zsh": zsh, "fish": fish}[args.shell]())
    return OK


def commands() -> dict[str, argparse.ArgumentParser]:
    (sub,) = (a for a in build()._actions if isinstance(a, argparse._SubParsersAction))
    return dict(sub.choices)


def helps() -> dict[str, str]:
    (sub,) = (a for a in build()._actions if isinstance(a, argparse._SubParsersAction))
    return {a.dest: a.help or "" for a in sub._choices_actions}


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [a for a in parser._actions if a.option_strings]


def _words(parser: argparse.ArgumentParser) -> list[str]:
    words: list[str] = []
    for action in parser._actions:
        if not action.option_strings:
            words += [*kinds(), "claims"] if action.metavar == "KIND" else [str(c) for c in action.choices or ()]
    return words


def bash() -> str:
    cases = []
    for name, parser in commands().items():
        flags = [s for a in _options(parser) for s in a.option_strings if s.startswith("--")]
        values = [(s, a.choices) for a in _options(parser) if a.choices for s in a.option_strings]
        inner = "".join(
            f'      {s}) COMPREPLY=($(compgen -W "{" ".join(map(str, c))}" -- "$cur")); return;;\n' for s, c in values
        )
        inner = f'    case "$prev" in\n{inner}    esac\n' if inner else ""
        # Papers are listed when the user presses tab: they may be added later.
        papers = '$(thalweg list papers 2>/dev/null | cut -d" " -f1)'
        more = papers if name == "reproduce" else " ".join(_words(parser))
        if name == "list":
            inner += f'    case "$prev" in claims) COMPREPLY=($(compgen -W "{papers}" -- "$cur")); return;; esac\n'
        cases.append(f'  {name})\n{inner}    words="{" ".join(flags)} {more}";;')
    return (
        "_thalweg() {\n"
        '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words\n'
        '  if [ "$COMP_CWORD" -eq 1 ]; then\n'
        f'    COMPREPLY=($(compgen -W "{" ".join(commands())} --help --version" -- "$cur")); return\n'
        "  fi\n"
        '  case "${COMP_WORDS[1]}" in\n' + "\n".join(cases) + "\n  esac\n"
        '  COMPREPLY=($(compgen -W "$words" -- "$cur") $(compgen -f -- "$cur"))\n'
        "}\n"
        "complete -o filenames -F _thalweg thalweg"
    )


def _quoted(text: str) -> str:
    return text.replace("'", "’").replace("[", "(").replace("]", ")").replace(":", ";")


def zsh() -> str:
    listed = "\n".join(f"    '{name}:{_quoted(text)}'" for name, text in helps().items())
    cases = []
    for name, parser in commands().items():
        specs = []
        for action in _options(parser):
            for flag in action.option_strings:
                value = (
                    ""
                    if action.nargs == 0
                    else f":value:({' '.join(map(str, action.choices))})"
                    if action.choices
                    else ":value:_files"
                )
                specs.append(f"'{flag}[{_quoted(action.help or '')}]{value}'")
        words = _words(parser)
        specs.append(f"'*:word:({' '.join(words)})'" if words else "'*:file:_files'")
        cases.append(f"    {name}) _arguments " + " ".join(specs) + ";;")
    return (
        "#compdef thalweg\n_thalweg() {\n  local -a commands\n  commands=(\n" + listed + "\n  )\n"
        "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
        '  local command="$words[2]"\n  shift words; (( CURRENT-- ))\n  case "$command" in\n'
        + "\n".join(cases)
        + "\n  esac\n}\n"
        '[ "$funcstack[1]" = _thalweg ] && _thalweg "$@" || compdef _thalweg thalweg'
    )


def fish() -> str:
    lines = []
    for name, text in helps().items():
        lines.append(f"complete -c thalweg -n __fish_use_subcommand -f -a {name} -d '{_quoted(text)}'")
    for name, parser in commands().items():
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        for action in _options(parser):
            long = next((s[2:] for s in action.option_strings if s.startswith("--")), None)
            if long is None:
                continue
            value = (
                ""
                if action.nargs == 0
                else f" -x -a '{' '.join(map(str, action.choices))}'"
                if action.choices
                else " -r"
            )
            lines.append(f"complete -c thalweg {seen} -l {long}{value} -d '{_quoted(action.help or '')}'")
        words = _words(parser)
        if words:
            lines.append(f"complete -c thalweg {seen} -f -a '{' '.join(words)}'")
    return "\n".join(lines)
