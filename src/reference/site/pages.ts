import type { Api } from "../apis.ts";

/** A page of the reference. Its HTML is at `path`, and its Markdown at the same with `.md`. */
export interface Page {
  api: Api;
  kind: "home" | "guide" | "resource" | "operation" | "event";
  path: string;
  title: string;
  /** The name of the resource to which an operation or an event belongs. */
  resource?: string;
  /** `GET /invites`, or the type of an event. */
  route?: string;
  /** Without the title. Links to other pages have their paths. */
  markdown: string;
}

export const API_TITLES: Record<Api, string> = {
  external: "External API",
  platform: "Platform API",
  livekit: "LiveKit webhook",
};

export const SERVICE = "Organization Video Visit Service";

/** The first sentence of what a page begins with, as plain text; the title, where that is a heading. */
export function firstSentenceOf({ title, markdown }: Page): string {
  const text = markdown.replace(/^ *```[\s\S]*?^ *```/gm, "").trim();
  const [sentence = ""] = /^(?![#|>])[\s\S]*?(?:\.(?=\s|\*|$)|$(?![\s\S]))/.exec(text) ?? [];
  return plainText(sentence.replace(/^- /, "")).trim() || `${title}.`;
}

const plainText = (markdown: string): string =>
  markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .replace(/\s+/g, " ");

/** The page as Markdown, with links to other pages as Markdown. */
export const markdownOf = ({ title, markdown }: Page): string =>
  `# ${title}\n\n${markdown.replace(/\]\((\/[^)#.]+)(#[^)]*)?\)/g, (_, path, hash = "") => `](${path}.md${hash})`)}\n`;
