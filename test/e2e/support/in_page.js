// Runs in the browser, in every page that a test opens. TypeScript does not know the DOM here.
window.inPage = {
  /** How light the text and its page are, 0 to 255. */
  lightnessOfText: () => lightnessOf(getComputedStyle(document.querySelector("main p")).color),
  lightnessOfPage: () => lightnessOf(getComputedStyle(document.body).backgroundColor),

  /** Words that stand on two lines, in tables. */
  brokenWords() {
    const broken = [];
    for (const cell of document.querySelectorAll("main :is(td, th)")) {
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

function lightnessOf(color) {
  const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
  return (red + green + blue) / 3;
}
