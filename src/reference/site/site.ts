import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { API_NAMES, type Api } from "../apis.ts";
import { errorTables } from "../error_codes.ts";
import { homeOf } from "../guides.ts";
import { type Choices, guideValues, operatorOf } from "../info.ts";
import { htmlOf } from "./layout.ts";
import type { Document } from "./openapi.ts";
import { operationPages } from "./operation_pages.ts";
import {
  API_TITLES,
  firstSentenceOf,
  guidePages,
  markdownOf,
  type Page,
  SERVICE,
  withLinks,
} from "./pages.ts";
import { everyOperation } from "./schemas.ts";
import { searchIndexOf } from "./search_index.ts";

/** The page at every address that has none. */
const MISSING = {
  kind: "missing",
  path: "/404",
  title: "There is no such page",
  markdown: "Search for it with the button above (or press `/`), or begin at the [home page](/).",
} as const;

const ASSETS = join(import.meta.dirname, "assets");

export type Files = Map<string, string | Buffer>;

export function siteOf(documents: Map<Api, object>, choices: Choices = {}): Files {
  const { url, contact } = operatorOf(choices);
  const values = guideValues(choices);
  const pages = API_NAMES.flatMap((api) => {
    const document = documents.get(api) as Document;
    return [
      ...guidePages(api, {
        ...values,
        CODES: errorTables(api, document).others,
        EVERY_OPERATION: everyOperation(api),
      }),
      ...operationPages(api, document, documents.get("external") as Document, values.SERVER),
    ];
  });
  const home: Page = {
    api: "external",
    kind: "home",
    path: "/",
    title: SERVICE,
    markdown: withLinks("external", homeOf(values)),
  };
  const files: Files = new Map();
  const served = assetsOf(pages, choices.development !== undefined);
  const assets = `/assets/${digestOf(served)}`;
  for (const [file, content] of served) files.set(`${assets.slice(1)}/${file}`, content);
  const { development } = choices;
  const site = { pages, assets, replacedServer: development && values.SERVER, development };
  for (const page of pages) {
    files.set(`${page.path.slice(1)}.html`, htmlOf(page, site));
    files.set(`${page.path.slice(1)}.md`, markdownOf(page));
  }
  files.set("index.html", htmlOf(home, site));
  files.set("404.html", htmlOf({ ...home, ...MISSING }, site));
  files.set("index.md", markdownOf(home));
  const overview = markdownOf({ ...home, markdown: overviewOf(pages) });
  // A program may have this text without its address.
  files.set("llms.txt", overview.replaceAll("](/", `](${development ? values.SERVER : (url ?? "")}/`));
  files.set(
    "llms-full.txt",
    withoutRepeats([home, ...pages].map((page) => inShort(markdownOf(page))).join("\n\n")),
  );
  for (const file of ["_headers", "_redirects", "invite_mail.png"])
    files.set(file, readFileSync(join(ASSETS, file)));
  files.set("robots.txt", `User-agent: *\nAllow: /\n${url ? `Sitemap: ${url}/sitemap.xml\n` : ""}`);
  if (url) files.set("sitemap.xml", sitemapOf(url, pages));
  const address = contact.url ?? (contact.email && `mailto:${contact.email}`);
  if (address) files.set(".well-known/security.txt", securityTextOf(address, url));
  return files;
}

/**
 * Leaves out what a program that reads all pages at once does not need: the programs that say again what the command above them
 * says, the white space in JSON, and the addresses of other pages, which it has read too.
 */
const inShort = (markdown: string): string =>
  markdown
    .replace(/\n *(?:With [^\n]*|In Python):\n+ *```(?:js|python)\n[\s\S]*?\n *```\n/g, "")
    .replace(/\n\[[^\]]*\]\(\/\w+\/reference\/every-operation\.md[^)]*\)\n/g, "")
    .replace(/(?<!!)\[([^\]\n]*)\]\(\/[^)\n]*\)/g, "$1")
    .replace(/(?<=```json\n)[\s\S]*?(?=\n *```)/g, (json) => JSON.stringify(JSON.parse(json)))
    .replace(/(?<=```sh\n)[\s\S]*?(?=\n *```)/g, (command) => command.replace(/\n *(?=["}[\]])/g, ""));

/** Shows each response once: that of a guide is often the example of an operation too. */
function withoutRepeats(text: string): string {
  const seen = new Set<string>();
  return text.replace(/(Response:? \d{3}):?\n\n *```json\n(.*)\n *```(?=\n)/g, (block, response, json) => {
    if (seen.has(json)) return `${response}, with the body of an example above.`;
    seen.add(json);
    return block;
  });
}

/** Styles and scripts by their names. Their path has a digest of all of them, so that browsers may cache them forever. */
function assetsOf(pages: Page[], isLocal: boolean): Files {
  const scripts = readdirSync(ASSETS).filter(
    (file) => file.endsWith(".js") && (isLocal || file !== "try_it.js"),
  );
  return new Map<string, string | Buffer>([
    ...scripts.map((file) => [file, readFileSync(join(ASSETS, file))] as const),
    [
      "docs.css",
      ["page", "content", "media"].map((name) => readFileSync(join(ASSETS, `css/${name}.css`))).join("\n"),
    ],
    ["search.json", JSON.stringify(searchIndexOf(pages))],
  ]);
}

const digestOf = (files: Files): string => {
  const hash = createHash("sha256");
  for (const content of files.values()) hash.update(content);
  return hash.digest("hex").slice(0, 12);
};

/** An overview for new readers and for programs: see https://llmstxt.org. */
function overviewOf(pages: Page[]): string {
  const list = (some: Page[]) =>
    some.map((page) => `- [${page.title}](${page.path}): ${firstSentenceOf(page)}`).join("\n");
  const parts = API_NAMES.map((api) => {
    const of = (kind: Page["kind"]) => pages.filter((page) => page.api === api && page.kind === kind);
    return `## ${API_TITLES[api]}

${list(of("guide"))}

### ${API_TITLES[api]}: reference

${list(of("resource"))}
- [openapi.json](/api/${api}/openapi.json): The whole reference as an OpenAPI 3.1 document.
- [postman.json](/api/${api}/postman.json): All requests as a collection for Postman and Bruno.`;
  });
  return `> An HTTP JSON API with which an organization manages its video visits and reads their results.

Each guide shows one task, with requests that you can copy into a terminal. The reference describes every operation with all its fields, errors and examples. Each page is also available as Markdown: add \`.md\` to its address, or read [all pages in one file](/llms-full.txt).

${parts.join("\n\n")}`;
}

const sitemapOf = (url: string, pages: Page[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${["/", ...pages.map(({ path }) => path)].map((path) => `<url><loc>${url}${path}</loc></url>`).join("\n")}
</urlset>
`;

/** A `security.txt`, which says where to report a vulnerability. RFC 9116 recommends that it expires within a year. */
function securityTextOf(address: string, url: string | undefined): string {
  const until = new Date();
  until.setUTCDate(until.getUTCDate() + 360);
  until.setUTCHours(0, 0, 0, 0);
  return `Contact: ${address}
Expires: ${until.toISOString()}
Preferred-Languages: en
${url ? `Canonical: ${url}/.well-known/security.txt\n` : ""}`;
}
