import { basename } from "node:path";
import type { Api } from "../apis.ts";
import { guideFiles, guideOf, type Values } from "../guides.ts";
import type { Page } from "./pages.ts";

/** A page for each guide of an API. */
export const guidePages = (api: Api, values: Values): Page[] =>
  guideFiles(api).map((file) => {
    const [, title = "", markdown = ""] = /^# (.*)\n+([\s\S]*)$/.exec(guideOf(api, file, values)) ?? [];
    return { api, kind: "guide", path: pathOfGuide(api, file), title, markdown: withLinks(api, markdown) };
  });

export const pathOfGuide = (api: Api, file: string): string =>
  `/${api}/guides/${basename(file, ".md").replace(/^\d+_/, "").replaceAll("_", "-")}`;

/** In the files, guides link to each other's files: also readers of the repository can follow them. */
const withLinks = (api: Api, markdown: string): string =>
  markdown.replace(
    /\]\((?:\.\.\/(\w+)\/)?(\w+\.md)(#[^)]*)?\)/g,
    (_, other = api, file, hash = "") => `](${pathOfGuide(other, file)}${hash})`,
  );
