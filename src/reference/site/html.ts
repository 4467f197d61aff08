import { createRequire } from "node:module";
import MarkdownIt from "markdown-it";
import { slugOf } from "./assets/words.js";

// Required instead of imported: highlight.js's types reference lib="dom", which would add a browser's types to the Worker's code.
const require = createRequire(import.meta.url);
const hljs = require("highlight.js/lib/core");
for (const [name, grammar] of Object.entries({
  sh: "bash",
  js: "javascript",
  ts: "typescript",
  python: "python",
  json: "json",
  yaml: "yaml",
  html: "xml",
}))
  hljs.registerLanguage(name, require(`highlight.js/lib/languages/${grammar}`));

const LABELS: Record<string, string> = {
  sh: "Terminal",
  js: "JavaScript",
  ts: "TypeScript",
  python: "Python",
  json: "JSON",
  yaml: "YAML",
  html: "HTML",
  text: "Text",
};

const markdown = new MarkdownIt();
export const escapeHtml = markdown.utils.escapeHtml;

// Tables that are too wide scroll, with tabindex also by keyboard.
markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>';
markdown.renderer.rules.table_close = () => "</table></div>";

markdown.renderer.rules.fence = (tokens, index) => {
  const { info = "text", content = "" } = tokens[index] ?? {};
  const [, method, path] = /^([A-Z]+) (\/\S*)\n$/.exec(content) ?? [];
  if (info === "http" && method && path) return endpoint(method, path);
  const code = hljs.getLanguage(info)
    ? hljs.highlight(content, { language: info }).value
    : escapeHtml(content);
  const label = LABELS[info] ?? "Text";
  return `<figure class="code" data-language="${info}"><figcaption><span>${label}</span></figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
};

function endpoint(method: string, path: string): string {
  return `<p class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(path).replaceAll("/", "/<wbr>")}</code></p>`;
}

export interface Heading {
  level: number;
  id: string;
  text: string;
}

/** @throws Error if two headings of a page are the same, since their ids would be too */
export function toHtml(text: string): { html: string; headings: Heading[] } {
  const tokens = markdown.parse(text, {});
  const headings: Heading[] = [];
  for (const [n, token] of tokens.entries()) {
    if (token.type !== "heading_open") continue;
    const text = tokens[n + 1]?.content.replaceAll("`", "") ?? "";
    const id = slugOf(text);
    if (headings.some((each) => each.id === id)) throw new Error(`A page has the heading "${text}" twice`);
    token.attrSet("id", id);
    headings.push({ level: Number(token.tag.slice(1)), id, text });
  }
  const html = markdown.renderer.render(tokens, markdown.options, {});
  // The only HTML in the Markdown: a line of a table's cell.
  return { html: html.replaceAll("&lt;br&gt;", "<br>"), headings };
}
