import { basename } from "node:path";
import type { Api } from "../apis.ts";
import { groupOfGuide, guideFiles, guideOf, type Values } from "../guides.ts";
import type { Group } from "../references.ts";

/** A page of the reference. Its HTML is at `path`, its Markdown at `path` with `.md`. */
export interface Page {
  api: Api;
  /** The group of the navigation that shows a guide or a resource. */
  group?: Group | undefined;
  kind: "home" | "guide" | "shared" | "resource" | "operation" | "event";
  path: string;
  title: string;
  resource?: string | undefined;
  /** For example `GET /invites`, or the type of an event. */
  route?: string;
  /** The page without its title. Links to other pages use their `path`. */
  markdown: string;
}

export const API_TITLES: Record<Api, string> = {
  external: "External API",
  platform: "Platform API",
  livekit: "LiveKit webhook",
};

export const SERVICE = "Organization Video Visit Service";

/** The page's first sentence as plain text; its title if it begins with a heading, a table or a quotation. */
export function firstSentenceOf({ title, markdown }: Page): string {
  const text = markdown.replace(/^ *```[\s\S]*?^ *```/gm, "").trim();
  const [sentence = ""] = /^(?![#|>])[\s\S]*?(?:\.(?=\s|\*|$)|$(?![\s\S]))/.exec(text) ?? [];
  return plainText(sentence.replace(/^- /, "")).trim() || `${title}.`;
}

export const paragraphs = (parts: (string | undefined | false)[]): string =>
  parts.filter(Boolean).join("\n\n");

export const fence = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\``;

export const sectionOf = (
  heading: string,
  ...parts: (string | undefined | false | string[])[]
): string | false => {
  const text = paragraphs(parts.map((part) => (Array.isArray(part) ? part.join("\n") : part)));
  return text !== "" && `${heading}\n\n${text}`;
};

/** A link that the HTML page shows as a fold with the linked section, or the whole linked page, inside. */
export const foldOf = (text: string, place: string): string => `[${text}](${place} "folded")`;

const plainText = (markdown: string): string =>
  markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .replace(/\s+/g, " ");

export const markdownOf = ({ title, markdown }: Page): string =>
  `# ${title}\n\n${markdown.replace(/\]\((\/[^)#. ]+)(#[^) ]*)?(?: "folded")?\)/g, (_, path, hash = "") => `](${path}.md${hash})`)}\n`;

export const guidePages = (api: Api, values: Values): Page[] =>
  guideFiles(api).map((file) => {
    const [, title = "", markdown = ""] = /^# (.*)\n+([\s\S]*)$/.exec(guideOf(api, file, values)) ?? [];
    const path = pathOfGuide(api, file);
    return { api, group: groupOfGuide(file), kind: "guide", path, title, markdown: withLinks(api, markdown) };
  });

export const pathOfGuide = (api: Api, file: string): string =>
  `/${api}/guides/${basename(file, ".md").replace(/^\d+_/, "").replaceAll("_", "-")}`;

/** Guides link to each other's files, so that the links also work in the repository. On pages, they become paths. */
export const withLinks = (api: Api, markdown: string): string =>
  markdown.replace(
    /\]\((?:(?:\.\.\/)?(\w+)\/)?(\w+\.md)(#[^)]*)?\)/g,
    (_, other = api, file, hash = "") => `](${pathOfGuide(other, file)}${hash})`,
  );
