/** `npm run english`: finds sentences to reword. There is no way to excuse one. */
import { readdirSync, readFileSync } from "node:fs";
import MarkdownIt from "markdown-it";
import ts from "typescript";
import { runCommand } from "./command.ts";

/** A sentence that begins like this leaves out the noun that it is about. Questions may. */
const OPENINGS =
  /^(?:As it is|In which|Nobody|Of|Once more|So often|That of|The same|Those|What|Who|Whom|Whose|With which)\b(?!.*\?$)/;

const PHRASES =
  /\b(?:alone|brings? to its end|comes to|goes on|has to say|hears of|in peace|is to be|leads to|made of|mends|of before|stands in|taken for|tells|whoever|works? off)\b/i;

interface Text {
  line: number;
  text: string;
}

/** The faults of a file as `file:line: sentence`. */
export function faultsIn(file: string, source: string): string[] {
  const texts = file.endsWith(".md") ? textsOfMarkdown(source) : commentsOf(file, source);
  return texts.flatMap(({ line, text }) =>
    sentencesOf(text)
      .filter((sentence) => OPENINGS.test(sentence) || PHRASES.test(sentence))
      .map((sentence) => `${file}:${line}: ${sentence}`),
  );
}

/** Quoted words and code are not the author's own. */
const sentencesOf = (text: string) =>
  text
    .replace(/`[^`]*`|"[^"]*"/g, "`…`")
    .replace(/\s+/g, " ")
    .split(/(?<=[.:!?]) (?=[A-Z`(])/)
    .map((sentence) => sentence.trim());

const markdown = new MarkdownIt();

const textsOfMarkdown = (source: string): Text[] =>
  markdown
    .parse(source, {})
    .filter(({ type }) => type === "inline")
    .map(({ map, children }) => ({
      line: (map?.[0] ?? 0) + 1,
      text: (children ?? [])
        .map(({ type, content }) => (type === "code_inline" ? "`…`" : content || " "))
        .join(""),
    }));

function commentsOf(file: string, source: string): Text[] {
  const comments = file.endsWith(".ts") ? commentsOfTypeScript(source) : linesOfComments(source);
  return comments.flatMap(({ line, text }) =>
    // Each tag of a doc comment, and each paragraph, is a text of its own.
    text
      .split(/\n\s*\n|@(?:param|returns?|throws)\s+(?:\{[^}]*\}\s+)?/)
      .map((part) => ({ line, text: part.trim() })),
  );
}

const MARKS = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/|--|#)\s?|\s*\*\/\s*$/gm;

const joined = (lines: Text[]): Text[] => {
  const comments: Text[] = [];
  for (const each of lines) {
    const last = comments.at(-1);
    if (last && each.line === last.line + last.text.split("\n").length) last.text += `\n${each.text}`;
    else comments.push({ ...each });
  }
  return comments.map(({ line, text }) => ({ line, text: text.replace(MARKS, "") }));
};

const linesOfComments = (source: string): Text[] =>
  joined(
    source
      .split("\n")
      .map((text, n) => ({ line: n + 1, text }))
      .filter(({ text }) => /^\s*(?:--|#)/.test(text)),
  );

function commentsOfTypeScript(source: string): Text[] {
  const file = ts.createSourceFile("file.ts", source, ts.ScriptTarget.Latest);
  const ranges = new Map<number, number>();
  const visit = (node: ts.Node) => {
    for (const rangesAt of [ts.getLeadingCommentRanges, ts.getTrailingCommentRanges])
      for (const { pos, end } of rangesAt(source, node.getFullStart()) ?? []) ranges.set(pos, end);
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  const comments = [...ranges].sort(([one], [other]) => one - other);
  return joined(
    comments.map(([pos, end]) => ({
      line: file.getLineAndCharacterOfPosition(pos).line + 1,
      text: source.slice(pos, end),
    })),
  );
}

function checkTexts() {
  const files = ["src", "test"]
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
    )
    .concat("README.md", "wrangler.toml")
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.(?:md|sql|toml|ts)$/.test(file) && !file.endsWith(".d.ts"));
  const faults = files.flatMap((file) => faultsIn(file, readFileSync(file, "utf8")));
  if (faults.length > 0) throw new Error(`${faults.join("\n")}\n\n${faults.length} sentences to reword.`);
}

if (import.meta.main)
  process.exitCode = await runCommand(
    `
Usage: npm run english

Lists the sentences in comments and Markdown that read as if they were translated: their first words leave out the noun, or they use an
unusual phrase. Fails if there are any. \`npm run check\` runs it.
`,
    {},
    checkTexts,
  );
