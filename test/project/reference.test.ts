import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import { guideFiles } from "../../src/reference/guides.ts";
import { slugOf, wordsOf } from "../../src/reference/site/assets/words.js";
import { siteOf } from "../../src/reference/site/site.ts";
import {
  bodiesOf,
  documentOf,
  examplesOf,
  fieldsOf,
  type Json,
  type Operation,
  operationsOf,
  resolved,
} from "./support/documents.ts";

const PUBLIC = "dist/public";

it.each(API_NAMES)("Redocly's rules find no problem in the document of the %s API", async (api) => {
  const problems = await lintFromString({
    source: readFileSync(`${PUBLIC}/api/${api}/openapi.json`, "utf8"),
    absoluteRef: `${api}.json`,
    config: await createConfig({
      extends: ["recommended"],
      rules: { "no-invalid-parameter-examples": "error", "no-invalid-schema-examples": "error" },
    }),
  });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
    [],
  );
});

const withoutCode = (markdown: string) => markdown.replace(/```[\s\S]*?```/g, "");

const filesOf = (ending: string) =>
  readdirSync(PUBLIC, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(ending));

const pages = new Map(
  filesOf(".html")
    .filter((file) => file !== "404.html")
    .map((file) => [addressOf(file), readFileSync(join(PUBLIC, file), "utf8")]),
);

/** As a program that has all pages reads a line: without the addresses of other pages. */
const withoutAddresses = (line: string) => line.replace(/(?<!!)\[([^\]]*)\]\(\/[^)]*\)/g, "$1");

function addressOf(file: string): string {
  return `/${file.replace(/(index)?\.html$/, "")}`;
}

function pathOf(api: string, { operationId, tags: [tag = ""] = [] }: Operation): string {
  return `/${api}/reference/${slugOf(tag)}/${slugOf(operationId.replace(/([A-Z])/g, " $1"))}`;
}

const markdownAt = (path: string) => readFileSync(join(PUBLIC, `${path}.md`), "utf8");

/** The page with what it shows folded: the pages to which a line of its own leads. */
function wholeOf(path: string, known = new Set<string>()): string {
  known.add(path);
  const markdown = markdownAt(path);
  const folded = markdown.matchAll(/^\[[^\]]*\]\((\/[^)]*)\.md(?:#[^)]*)?\)$/gm);
  const others = [...folded].flatMap(([, each = ""]) => (known.has(each) ? [] : [wholeOf(each, known)]));
  return [markdown, ...others].join("\n");
}

describe.each(API_NAMES)("The page of each operation and event of the %s API", (api) => {
  const document = documentOf(api);
  const operations = operationsOf(document);
  const isEvent = ({ operationId }: Operation) =>
    Object.values(document.webhooks ?? {}).some(({ post }) => post.operationId === operationId);

  function* toldOf(operation: Operation): Generator<unknown> {
    const { summary, description = "", parameters = [], responses } = operation;
    yield `# ${summary}`;
    yield* description.split(/(?<=\.) +/);
    yield* operation["x-required-roles"] ?? [];
    yield* operation["x-limits"] ?? [];
    for (const { name, description, schema, in: place } of parameters) {
      yield* [`\`${name}\``, description];
      if (place !== "path") yield* limitsOf(schema, "sent");
    }
    for (const [status, { description, headers = {}, content = {} }] of Object.entries(responses)) {
      if (Object.keys(content).length === 0) yield description;
      yield status === "default" ? "Any other status" : status;
      for (const [name, header] of Object.entries(headers))
        if (name !== "Error-Code") yield* [`\`${name}\``, resolved(document, header).description];
      for (const media of Object.values(content))
        for (const { summary } of Object.values(status >= "400" ? (media.examples ?? {}) : {}))
          yield `\`${summary}\``;
    }
    for (const [where, { schema }] of bodiesOf(operation))
      if (!/ [45]\d\d$/.test(where))
        for (const { path, field } of fieldsOf(document, schema)) {
          yield* [`\`${path.split(".").at(-1)}\``, field.description];
          yield* limitsOf(field, where.endsWith("request") && !isEvent(operation) ? "sent" : "received");
        }
  }

  /** The limits that the page shows, as people write them. That a number in a response is not negative is not one of them. */
  function* limitsOf(schema: Json, side: "sent" | "received"): Generator<unknown> {
    const { minLength, maxLength, minItems, maxItems, minimum, maximum, enum: values = [] } = schema;
    const isNumber = (limit: unknown): limit is number =>
      typeof limit === "number" && Math.abs(limit) < Number.MAX_SAFE_INTEGER;
    const lengths = schema.format || schema.enum ? [] : [minLength, maxLength];
    const least = side === "received" && Number(minimum) <= 1 ? [] : [minimum];
    for (const limit of [...lengths, minItems, maxItems, ...least, maximum])
      if (isNumber(limit)) yield limit.toLocaleString("en-US");
    for (const value of values as unknown[]) if (value !== null) yield `\`${value}\``;
    for (const each of [schema.items, ...((schema.anyOf as Json[]) ?? [])])
      if (each && !(each as Json).$ref) yield* limitsOf(each as Json, side);
  }

  it("has everything from the document except regular expressions: fields, limits, roles, headers and errors", () => {
    expect(operations.length).toBeGreaterThan(0);
    for (const operation of operations) {
      const page = wholeOf(pathOf(api, operation));
      const missing = [...toldOf(operation)].filter(
        (text) => text !== undefined && !page.includes(String(text)),
      );
      expect(missing, operation.operationId).toEqual([]);
      expect(withoutCode(page)).not.toMatch(/\bmatches `|\\[xuds]|\[\^/);
    }
  });

  it("shows every example of a body, but an event only once", () => {
    for (const operation of operations) {
      const page = markdownAt(pathOf(api, operation));
      const shown = [
        ...page.matchAll(/^```json\n([\s\S]*?)\n```$/gm),
        ...page.replaceAll("'\\''", "'").matchAll(/^ {2}-d '([\s\S]*?)'\n```$/gm),
      ].map(([, json = ""]) => JSON.parse(json));
      const examples = bodiesOf(operation)
        .filter(([where]) => !/ [45]\d\d$/.test(where))
        .flatMap(([, media]) => (isEvent(operation) ? examplesOf(media).slice(0, 1) : examplesOf(media)));
      for (const example of examples)
        if (typeof example === "string") expect(page).toContain(example.trim());
        else expect(shown, operation.operationId).toContainEqual(example);
    }
  });

  it("has the folded objects and errors on the page itself", () => {
    for (const operation of operations) {
      const html = pages.get(pathOf(api, operation)) ?? "";
      const folds = markdownAt(pathOf(api, operation)).match(/^\[[^\]]*\]\([^)]*\)$/gm) ?? [];
      expect(folds.length).toBeGreaterThan(0);
      expect(html.match(/<details class="fold"><summary>.*?<\/summary><(p|ul)[ >]/g)).toHaveLength(
        folds.length,
      );
    }
  });
});

describe("The pages of the reference", () => {
  const documents = new Map(API_NAMES.map((api) => [api, documentOf(api)]));
  const siteWith = (vars: Record<string, string>) => siteOf(documents, { vars });

  it("are one for each guide, resource, operation and event, one of what operations share, and one start page", () => {
    const counts = [...documents].map(
      ([api, document]) =>
        guideFiles(api).length + (document.tags?.length ?? 0) + operationsOf(document).length + 1,
    );
    expect(pages.size).toBe(counts.reduce((sum, count) => sum + count, 1));
  });

  it("have no broken links", () => {
    const broken = [...pages].flatMap(([address, html]) =>
      [...html.matchAll(/(?:href|src)="(?!https?:|data:)([^"]*)"/g)].flatMap(([, link = ""]) => {
        const [path, hash] = link.split("#");
        const target = pages.get(path || address);
        const isThere = target !== undefined || filesOf("").includes((path ?? "").slice(1));
        const isPlace = hash === undefined || target?.includes(` id="${hash}"`);
        return isThere && isPlace ? [] : [`${address} -> ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("exist as Markdown, with every word and with links to Markdown", () => {
    const known = new Set(filesOf(".md").map((file) => `/${file}`));
    for (const [address, html] of pages) {
      const markdown = readFileSync(join(PUBLIC, address === "/" ? "index.md" : `${address}.md`), "utf8");
      const links = [...markdown.matchAll(/\]\((\/[^)#]*\/[^)#.]+(?:\.md)?)(?:#[^)]*)?\)/g)].map(
        ([, link]) => link,
      );
      expect(
        links.filter((link = "") => !known.has(link)),
        address,
      ).toEqual([]);
      const read = new Set(wordsOf(textOf(html)));
      const words = wordsOf(markdown.replace(/<br>|\]\([^)]*\)|^ *```.*$|^\d+\. /gm, " "));
      expect(
        words.filter((word) => /\w/.test(word) && !read.has(word)),
        address,
      ).toEqual([]);
    }
  });

  it("need nothing that their Content-Security-Policy forbids, and no other host", () => {
    const policy = /Content-Security-Policy: (.*)/.exec(readFileSync(join(PUBLIC, "_headers"), "utf8"))?.[1];
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    for (const [address, html] of pages)
      expect(html, address).not.toMatch(/<script(?! src="\/)|<style|<[^>]* (style|on\w+)=|src="(?!\/)|url\(/);
  });

  it("have a form that sends the example in development only, so that no one types a secret into a published page", () => {
    const path = "external/reference/invites/create-invite.html";
    const [published, local] = [PUBLIC, "dist/development"].map((folder) =>
      readFileSync(join(folder, path), "utf8"),
    );
    expect(local).toMatch(/try_it\.js/);
    expect(local).toMatch(/data-request="[^"]*demo-client/);
    expect(published).not.toMatch(/try_it|data-request|demo-client/);
    for (const file of filesOf("")) expect(file).not.toMatch(/try_it/);
    for (const html of pages.values()) expect(html).not.toMatch(/try_it|data-request|development-secret/);
  });

  it("are smaller than 100 KB each, compressed, including styles and scripts", () => {
    const assets = filesOf("").filter((file) => /docs\.(css|js)$|theme\.js$/.test(file));
    expect(assets.length).toBe(3);
    const sizeOf = (content: string | Buffer) => gzipSync(content).length;
    const shared = assets.reduce((sum, file) => sum + sizeOf(readFileSync(join(PUBLIC, file))), 0);
    expect(Math.max(...[...pages.values()].map((html) => shared + sizeOf(html)))).toBeLessThan(100_000);
  });

  it("are listed for programs, with the OpenAPI documents", () => {
    const absolute = String(siteWith({ PUBLIC_URL: "https://visits.example.org" }).get("llms.txt"));
    expect(absolute.match(/\]\((?!https:\/\/visits\.example\.org\/)/g)).toBeNull();
    const list = readFileSync(join(PUBLIC, "llms.txt"), "utf8");
    const guides = filesOf(".md").filter((file) => file.includes("/guides/"));
    expect(guides.filter((file) => !list.includes(`(/${file})`))).toEqual([]);
    for (const api of API_NAMES) expect(list).toContain(`(/api/${api}/openapi.json)`);
    const whole = readFileSync(join(PUBLIC, "llms-full.txt"), "utf8");
    for (const file of filesOf(".md"))
      for (const line of withoutCode(readFileSync(join(PUBLIC, file), "utf8")).split("\n"))
        if (!/^ *(With |In Python|Response)|every-operation/.test(line))
          expect(whole.includes(withoutAddresses(line)), `${file}: ${line}`).toBe(true);
  });

  it("have a sitemap and a security.txt if the operator sets the address and the contact", () => {
    const files = siteWith({ PUBLIC_URL: "https://visits.example.org", CONTACT: "help@example.org" });
    const listed = String(files.get("sitemap.xml")).matchAll(
      /<loc>https:\/\/visits\.example\.org(.*)<\/loc>/g,
    );
    expect([...listed].map(([, address]) => address).sort()).toEqual([...pages.keys()].sort());
    expect(String(files.get("robots.txt"))).toContain("Sitemap: https://visits.example.org/sitemap.xml\n");
    const security = String(files.get(".well-known/security.txt"));
    expect(security).toMatch(/^Contact: mailto:help@example\.org\nExpires: .*Z\n/);
    const days = (Date.parse(/Expires: (.*)/.exec(security)?.[1] ?? "") - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(350);
    expect(days).toBeLessThan(365);
    const silent = [...siteWith({ PUBLIC_URL: "", CONTACT: "" }).keys()];
    expect(silent.filter((file) => /sitemap|security/.test(file))).toEqual([]);
  });
});

/** The text of a page as a reader without scripts sees it. */
function textOf(html: string): string {
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return html
    .replace(/<wbr>/g, "")
    .replace(/<img [^>]*alt="([^"]*)"[^>]*>/g, "$1")
    .replace(/<[^>]*>/g, (tag) => (/^<\/?span\b/.test(tag) ? "" : " "))
    .replace(/&(\w+);/g, (whole, name) => entities[name] ?? whole);
}
