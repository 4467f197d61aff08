// Shared by the build, which creates the search index, and by the page, which searches in it.

/** The words of a text in lower case, and also the parts of words with hyphens or underscores. */
export const wordsOf = (text) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
    .flatMap((word) => (/[_-]/.test(word) ? [word, ...word.split(/[_-]+/)] : [word]))
    .filter(Boolean);

export const slugOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/[\s_-]+/g, "-");
