// Loaded at the first search, together with the index and the library.
import MiniSearch from "./minisearch.js";
import { INDEX, slugOf } from "./words.js";

const { pages, index } = await (await fetch(new URL("search.json", import.meta.url))).json();
const search = MiniSearch.loadJS(index, INDEX);

const OPTIONS = {
  prefix: (term) => term.length > 2,
  boost: { title: 8, heading: 4, route: 3 },
  // Prefer guides, the external API (which most readers call), and whole pages.
  boostDocument: (_, __, { p, h }) =>
    (/guide$/.test(pages[p][2]) ? 1.5 : 1) * (/^External/.test(pages[p][2]) ? 1.5 : 1) * (h ? 1 : 1.5),
};

/** Tried in order until there are results: all words exactly, all words with typos, some words with typos. */
const ATTEMPTS = [
  { ...OPTIONS, combineWith: "AND" },
  { ...OPTIONS, combineWith: "AND", fuzzy: (term) => (term.length > 3 ? 0.3 : 0) },
  { ...OPTIONS, combineWith: "OR", fuzzy: (term) => (term.length > 3 ? 0.3 : 0) },
];

function find(query) {
  const hits =
    ATTEMPTS.map((options) => search.search(query, options)).find(({ length }) => length > 0) ?? [];
  const ofPage = new Map();
  // At most two results for each page.
  return hits.filter(({ p }) => ofPage.set(p, (ofPage.get(p) ?? 0) + 1).get(p) <= 2).slice(0, 12);
}

const dialog = document.createElement("dialog");
dialog.setAttribute("aria-label", "Search");
dialog.innerHTML =
  '<form method="dialog"><input type="search" aria-label="Search guides and reference" placeholder="Search guides and reference" autocomplete="off"><button>Close</button></form><p role="status"></p><ol></ol>';
document.body.append(dialog);
const [input, status, list] = ["input", "[role=status]", "ol"].map((each) => dialog.querySelector(each));

function itemOf({ p, h }) {
  const [path, title, where] = pages[p];
  const [item, link, place] = ["li", "a", "small"].map((tag) => document.createElement(tag));
  link.href = h ? `${path}#${slugOf(h)}` : path;
  link.textContent = h ? `${title} › ${h}` : title;
  link.addEventListener("click", () => dialog.close());
  place.textContent = where;
  link.append(place);
  item.append(link);
  return item;
}

input.addEventListener("input", () => {
  const hits = find(input.value);
  status.textContent = input.value.trim()
    ? `${hits.length || "No"} ${hits.length === 1 ? "result" : "results"}`
    : "";
  list.replaceChildren(...hits.map(itemOf));
});

dialog.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "Enter" && document.activeElement === input) {
    event.preventDefault();
    links[0]?.click();
  }
  if (event.key === "Escape") {
    // By default, Escape would only clear the search field.
    event.preventDefault();
    dialog.close();
  }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  (links[event.key === "ArrowDown" ? Math.min(at + 1, links.length - 1) : at - 1] ?? input).focus();
});

export function open() {
  if (!dialog.open) dialog.showModal();
  input.select();
}
