import { wordsOf } from "./assets/words.js";
import { API_TITLES, type Page } from "./pages.ts";

/** The longest word that somebody types: the longest is an error code. */
const MAX_WORD_LENGTH = 30;

/**
 * The index that a page loads for its first search. A guide or a resource has an entry for each section, so that a result leads to
 * it; an operation is one entry. The index has words only: the excerpts come from the pages that were found.
 */
export function searchIndexOf(pages: Page[]) {
  const sections = pages.flatMap(({ kind, title, route = "", words = "", markdown }, page) => {
    const parts = kind === "operation" || kind === "event" ? [markdown] : markdown.split(/^(?=## )/m);
    return parts.map((text) => {
      const [, heading = ""] = (parts.length > 1 && /^## (.*)/.exec(text)) || [];
      return { page, heading, text: `${title} ${route} ${heading ? "" : words} ${withoutCode(text)}` };
    });
  });
  const bySection = sections.map(({ text }) => new Set(wordsOf(text)));
  const terms = new Map<string, number[]>();
  for (const [n, words] of bySection.entries())
    for (const word of words)
      if (word.length <= MAX_WORD_LENGTH) terms.set(word, [...(terms.get(word) ?? []), n]);
  // A word that most sections have finds nothing.
  const rare = [...terms].filter(([, places]) => places.length < sections.length / 2).sort();
  return {
    pages: pages.map(({ api, kind, resource, path, title, route = "", words = "" }) => [
      path,
      title,
      `${API_TITLES[api]}: ${kind === "guide" ? "guide" : (resource ?? "reference")}`,
      `${route} ${words}`.trim(),
    ]),
    sections: sections.map(({ page, heading }) => [page, heading]),
    terms: Object.fromEntries(rare.map(([word, places]) => [word, differencesOf(places)])),
  };
}

const withoutCode = (markdown: string) => markdown.replace(/```[\s\S]*?```|\]\([^)]*\)/g, " ");

const differencesOf = (places: number[]) =>
  places.map((place, n) => (place - (places[n - 1] ?? 0)).toString(36)).join(" ");
