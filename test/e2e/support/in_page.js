// Runs in the browser, in every page that a test opens. TypeScript does not know the DOM here.
window.inPage = {
  /** Where an element begins, below the top of the window. */
  topOf: (id) => document.getElementById(id)?.getBoundingClientRect().top ?? null,

  /** How light the text of the guides and their page are, 0 to 255. */
  lightness() {
    const lightnessOf = (color) => {
      const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
      return (red + green + blue) / 3;
    };
    const text = document.querySelector(".introduction-section .markdown p");
    return {
      text: lightnessOf(getComputedStyle(text).color),
      page: lightnessOf(getComputedStyle(document.body).backgroundColor),
    };
  },

  /** The width of the page, and texts that end beyond it and cannot be scrolled to. */
  async widthOfAll() {
    const root = document.documentElement;
    // Operations are drawn when they come into view.
    for (let top = 0; top < root.scrollHeight; top += 2000) {
      scrollTo(0, top);
      await new Promise((drawn) => setTimeout(drawn, 50));
    }
    const texts = [...document.querySelectorAll(".references-rendered :is(p, li, h1, h2, h3, td, th)")];
    return { width: root.scrollWidth, cutOff: texts.filter(isCutOff).map((text) => text.textContent) };
  },

  /** Words that stand on two lines, in the tables that are drawn. */
  brokenWords() {
    const broken = [];
    for (const cell of document.querySelectorAll(".references-rendered :is(td, th)")) {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode())
        for (const { 0: word, index } of text.data.matchAll(/\w+/g)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
        }
    }
    return broken;
  },

  /** The cues of a file, as the browser's own parser reads them in a <track>. */
  async cuesOf(url) {
    const video = document.createElement("video");
    const track = document.createElement("track");
    track.src = url;
    const loaded = new Promise((resolve, reject) => {
      track.addEventListener("load", resolve);
      track.addEventListener("error", () => reject(new Error("The browser does not take this file")));
    });
    video.append(track);
    document.body.append(video);
    track.track.mode = "hidden";
    await loaded;
    return [...track.track.cues].map((cue) => {
      const content = cue.getCueAsHTML();
      const { startTime, endTime } = cue;
      return {
        startTime,
        endTime,
        voice: content.querySelector("span")?.title ?? null,
        text: content.textContent,
      };
    });
  },
};

function isCutOff(element) {
  if (element.getBoundingClientRect().right <= innerWidth + 1) return false;
  for (let box = element.parentElement; box && box.id !== "reference"; box = box.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)) return false;
  return true;
}
