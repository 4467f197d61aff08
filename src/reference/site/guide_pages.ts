import { basename } from "node:path";
import type { Api } from "../apis.ts";
import { groupOfGuide, guideFiles, guideOf, type Values } from "../guides.ts";
import type { Page } from "./pages.ts";

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
