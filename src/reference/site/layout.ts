import type { Api } from "../apis.ts";
import { GROUPS } from "../references.ts";
import { slugOf } from "./assets/words.js";
import { escapeHtml, type Heading, toHtml } from "./html.ts";
import { API_TITLES, firstSentenceOf, type Page, SERVICE } from "./pages.ts";

interface Site {
  pages: Page[];
  assets: string;
  /** The address in the commands that the page's script replaces with its own server's. Only on a developer's machine. */
  replacedServer?: string | undefined;
}

const isReference = ({ kind }: Page) => kind !== "guide" && kind !== "home";

/** Everything on the page can be read without scripts. */
export function htmlOf(page: Page, { pages, assets, replacedServer }: Site): string {
  const { html, headings } = toHtml(page.markdown);
  const content = withExample(withFolds(html, pages));
  const own = pages.filter(({ api, kind }) => api === page.api && kind !== "home");
  const beside = own.filter((each) => isReference(each) === isReference(page));
  const at = beside.indexOf(page);
  const isHome = page.kind === "home";
  return `<!doctype html>
<html lang="en"${replacedServer ? ` data-server="${replacedServer}"` : ""}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(isHome ? SERVICE : `${page.title} · ${API_TITLES[page.api]}`)}</title>
<meta name="description" content="${escapeHtml(firstSentenceOf(page))}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/docs.css">
<link rel="alternate" type="text/markdown" href="${isHome ? "/index.md" : `${page.path}.md`}">
<script src="${assets}/theme.js"></script>
<script src="${assets}/docs.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="name" href="/"${isHome ? ' aria-current="page"' : ""}>${SERVICE}</a>
<nav aria-label="APIs">${Object.entries(API_TITLES)
    .map(([api, title]) => linkTo(firstPageOf(api as Api, pages), title, api === page.api && !isHome))
    .join("")}</nav>
<div id="tools"></div>
</header>
<div class="columns">
<details id="navigation" open><summary>Navigation</summary><nav aria-label="${API_TITLES[page.api]}">${navigation(page, own)}</nav></details>
<main id="content" tabindex="-1" data-kind="${page.kind}">
${isHome ? "" : breadcrumbs(page, pages)}
<h1>${escapeHtml(page.title)}</h1>
${content}
<p class="formats"><a href="${isHome ? "/index.md" : `${page.path}.md`}">This page as Markdown</a></p>
${isHome ? "" : `<nav class="beside" aria-label="Previous and next page">${neighbour("prev", "Previous", beside[at - 1])}${neighbour("next", "Next", beside[at + 1])}</nav>`}
</main>
${contents(page, headings)}
</div>
</body>
</html>
`;
}

/** Puts the section with the examples into an element of its own, which wide screens show beside the text. */
const withExample = (html: string): string =>
  html.replace(
    /<h2 id="example">[\s\S]*?(?=<h2|<p><a [^>]*title="folded"|<details|$)/,
    (section) => `<section class="example" aria-labelledby="example">${section}</section>`,
  );

/** Puts the section or the page to which a link marked as folded leads into a fold, without the ids of its headings. */
const withFolds = (html: string, pages: Page[]): string =>
  html.replace(
    /<p><a href="([^"#]*)(?:#([^"]*))?" title="folded">(.*?)<\/a><\/p>/g,
    (_, path, hash, text) => {
      const { markdown = "" } = pages.find((each) => each.path === path) ?? {};
      const parts = markdown.split(/^(?=## )/m);
      const part = hash ? parts.find((each) => slugOf(/^## (.*)/.exec(each)?.[1] ?? "") === hash) : markdown;
      const inside = toHtml(part?.replace(hash ? /^## .*\n/ : "", "") ?? "").html;
      const plain = inside.replace(/<h\d id="[^"]*">(.*?)<\/h\d>/g, '<p class="heading">$1</p>');
      return `<details class="fold"><summary>${text}</summary>${plain}</details>`;
    },
  );

const firstPageOf = (api: Api, pages: Page[]): string =>
  pages.find((each) => each.api === api && each.kind === "guide")?.path ?? "/";

const linkTo = (path: string, text: string, isHere = false, before = "") =>
  `<a href="${path}"${isHere ? ' aria-current="page"' : ""}>${before}${escapeHtml(text)}</a>`;

const neighbour = (rel: string, label: string, page: Page | undefined) =>
  page ? `<a rel="${rel}" href="${page.path}"><small>${label}</small> ${escapeHtml(page.title)}</a>` : "";

function breadcrumbs(page: Page, pages: Page[]): string {
  const resource = pages.find(
    (each) => each.kind === "resource" && each.api === page.api && each.resource === page.resource,
  );
  const steps = [
    linkTo(firstPageOf(page.api, pages), API_TITLES[page.api]),
    isReference(page) ? "Reference" : "Guides",
    ...(resource && resource !== page ? [linkTo(resource.path, resource.title)] : []),
  ];
  return `<nav class="crumbs" aria-label="Breadcrumb"><ol>${steps.map((step) => `<li>${step}</li>`).join("")}</ol></nav>`;
}

/** Reference pages list only second-level headings: most of the third-level headings are statuses of errors. */
function contents({ kind }: Page, headings: Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2 || (level === 3 && kind === "guide"));
  if (kind === "operation" || kind === "event") return "";
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ id, text, level }) => `<li class="level${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-labelledby="contents"><p id="contents">On this page</p><ul>${items.join("")}</ul></nav>`;
}

function navigation(here: Page, own: Page[]): string {
  const item = (page: Page, before = "", text = page.title) =>
    `<li>${linkTo(page.path, text, page === here, before)}</li>`;
  const details = (resource: Page) => {
    const pages = own.filter((each) => each.resource === resource.resource && each !== resource);
    const items = pages.map((page) => item(page, badge(page)));
    const isOpen = here.resource === resource.resource;
    return `<details${isOpen ? " open" : ""}><summary>${escapeHtml(resource.title)}</summary><ul>${[item(resource, "", "Overview"), ...items].join("")}</ul></details>`;
  };
  const groups = GROUPS.map((group) => {
    const of = (kind: Page["kind"]) => own.filter((page) => page.kind === kind && page.group === group);
    const guides = [...of("guide"), ...of("shared")].map((page) => item(page));
    const list = guides.length > 0 ? `<ul>${guides.join("")}</ul>` : "";
    const contents = list + of("resource").map(details).join("");
    return contents && `<h2>${escapeHtml(group)}</h2>${contents}`;
  });
  return groups.join("");
}

function badge({ kind, route = "" }: Page): string {
  const method = kind === "event" ? "EVENT" : route.split(" ")[0];
  return `<span class="method ${method?.toLowerCase()}">${method}</span> `;
}
