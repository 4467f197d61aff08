// Loaded at the first search, together with the index.
import { slugOf, wordsOf } from "./words.js";

const { pages, sections, terms } = await (await fetch(new URL("search.json", import.meta.url))).json();

/** The sections that have a term: the index has the differences between their numbers, in base 36. */
function sectionsOf(term) {
  let section = 0;
  return terms[term].split(" ").map((difference) => {
    section += Number.parseInt(difference, 36);
    return section;
  });
}

const vocabulary = Object.keys(terms);
const sizes = sections.map(() => 0);
for (const term of vocabulary) for (const section of sectionsOf(term)) sizes[section]++;

/** Each section with its page and the words of its titles, which count more than those of its text. */
const docs = sections.map(([page, heading], n) => {
  const [path, title, place, more] = pages[page];
  const named = new Set(wordsOf(`${title} ${heading} ${heading ? "" : more}`));
  // Prefer guides, the external API (which most readers call), whole pages, and short sections.
  const weight = [/guide$/.test(place), /^External/.test(place), !heading].filter(Boolean).length;
  return { path, title, place, heading, named, weight: 1.5 ** weight / (150 + sizes[n]) };
});

/** The number of letters to insert, to delete or to replace. */
function distance(a, b) {
  let row = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}

/** The terms of the index for a word that was typed: itself and what begins with it, or else those with a typo. */
function termsFor(word) {
  const begun = vocabulary.filter((term) => (word.length > 2 ? term.startsWith(word) : term === word));
  if (begun.length > 0) return begun.map((term) => [term, term === word ? 1 : 0.5]);
  const most = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
  const near = vocabulary.filter((term) => Math.abs(term.length - word.length) <= most);
  return near.filter((term) => distance(term, word) <= most).map((term) => [term, 0.3]);
}

function find(query) {
  const found = new Map();
  for (const [n, word] of wordsOf(query).entries())
    for (const [term, nearness] of termsFor(word)) {
      const places = sectionsOf(term);
      const rarity = Math.log(1 + docs.length / places.length);
      for (const section of places) {
        const hit = found.get(section) ?? { ...docs[section], scores: [], terms: new Set() };
        const score = nearness * rarity * (hit.named.has(term) ? 6 : 1);
        hit.scores[n] = Math.max(hit.scores[n] ?? 0, score);
        hit.terms.add(term);
        found.set(section, hit);
      }
    }
  const wordsFound = ({ scores }) => scores.filter(Boolean).length;
  const total = ({ scores, weight }) => weight * scores.reduce((sum, each) => sum + (each ?? 0), 0);
  const ofPage = new Map();
  return (
    [...found.values()]
      .sort((a, b) => wordsFound(b) - wordsFound(a) || total(b) - total(a))
      // At most two results for each page.
      .filter(({ path }) => ofPage.set(path, (ofPage.get(path) ?? 0) + 1).get(path) <= 2)
      .slice(0, 10)
  );
}

const texts = new Map();

/** A page as plain text, by its sections. */
async function textOf(path) {
  const markdown = await (await fetch(`${path}.md`)).text();
  const plain = markdown.replace(
    /```[\s\S]*?```|\]\([^)]*\)|^[-:| ]+$|^ *(?:With the package|In Python|Response:? \d{3})[:.]?$|[[`*|]/gm,
    " ",
  );
  return plain.split(/^(?=## )/m).map((section) =>
    section
      .replace(/^#+ .*/, "")
      .replace(/\s+/g, " ")
      .trim(),
  );
}

/** The words around the first term in the section, with the terms marked. */
async function excerptOf({ path, heading, terms }) {
  if (!texts.has(path)) texts.set(path, textOf(path));
  const parts = await texts.get(path);
  const headings = sections.filter(([page]) => pages[page][0] === path).map(([, each]) => each);
  const text = headings.length > 1 ? parts[headings.indexOf(heading)] : parts.join(" ");
  const words = new RegExp(`(?<![\\p{L}\\p{N}])(${[...terms].join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const start = Math.max(0, (text.search(words) ?? 0) - 60);
  const shown = text.slice(start, start + 180).replace(start ? /^\S* / : "", "");
  return shown.split(words).map((part, n) => {
    const element = n % 2 ? document.createElement("mark") : document.createTextNode("");
    element.textContent = part;
    return element;
  });
}

function itemOf(hit) {
  const { path, title, place, heading } = hit;
  const [item, link, small, excerpt] = ["li", "a", "small", "span"].map((tag) => document.createElement(tag));
  link.href = heading ? `${path}#${slugOf(heading)}` : path;
  link.textContent = heading ? `${title} › ${heading}` : title;
  small.textContent = place;
  link.append(small, excerpt);
  item.append(link);
  excerptOf(hit).then((nodes) => excerpt.append(...nodes));
  return item;
}

export function attach(dialog) {
  const [input, status, list] = ["input", "[role=status]", "ol"].map((each) => dialog.querySelector(each));
  const show = () => {
    const hits = find(input.value);
    status.textContent = input.value.trim()
      ? `${hits.length || "No"} ${hits.length === 1 ? "result" : "results"}`
      : "";
    list.replaceChildren(...hits.map(itemOf));
  };
  input.addEventListener("input", show);
  list.addEventListener("click", () => dialog.close());
  show();
}
