// Of the build, which makes the index of the search, and of the page that searches in it.

/** The words of a text, and the parts of those with hyphens or underscores. */
export const wordsOf = (text) =>
  text
    .split(/[^\p{L}\p{N}_-]+/u)
    .flatMap((word) => (/[_-]/.test(word) ? [word, ...word.split(/[_-]+/)] : [word]))
    .filter(Boolean);

/** The id of a heading. */
export const slugOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/[\s_-]+/g, "-");

/** What the index holds of each section of a page: `p` is the place of its page in the list, `h` its heading. */
export const INDEX = {
  fields: ["title", "heading", "route", "text"],
  storeFields: ["p", "h"],
  tokenize: wordsOf,
};
