// Everything here is optional: all pages can be read without scripts.
const root = document.documentElement;

/** Reads or stores a preference. localStorage throws if the browser's settings forbid storage. */
const remembered = (name, value) => {
  try {
    if (value === undefined) return localStorage.getItem(name);
    localStorage.setItem(name, value);
  } catch {}
};

function button(text, onclick, label = text) {
  const element = document.createElement("button");
  Object.assign(element, { type: "button", textContent: text, onclick });
  if (label !== text) element.setAttribute("aria-label", label);
  return element;
}

// A developer's server can have any port, so put its address into the commands.
if (root.dataset.server)
  for (const code of document.querySelectorAll("code")) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode())
      text.data = text.data.replaceAll(root.dataset.server, location.origin);
  }

// Show a request either with curl or with the package, and keep the choice for other pages.
const samples = [...document.querySelectorAll('figure[data-language="sh"]')].flatMap((curl) => {
  const between = curl.nextElementSibling;
  const other = between?.matches("p") ? between.nextElementSibling : null;
  if (between?.textContent !== "With the package:" || !other?.matches('[data-language="js"]')) return [];
  between.hidden = true;
  return [[curl, other]];
});

function showSamples(language) {
  for (const figures of samples)
    for (const figure of figures) {
      figure.hidden = figure.dataset.language !== language;
      for (const tab of figure.querySelectorAll(".tab"))
        tab.setAttribute("aria-pressed", tab.dataset.language === language);
    }
}

for (const figures of samples)
  for (const figure of figures) {
    const tabs = [
      ["curl", "sh"],
      ["JavaScript", "js"],
    ].map(([name, language]) => {
      const tab = button(name, () => {
        remembered("language", language);
        const top = tab.getBoundingClientRect().top;
        showSamples(language);
        const [shown] = figures.filter(({ hidden }) => !hidden);
        const same = shown.querySelector(`.tab[data-language="${language}"]`);
        // Keep the tab in place: the samples above may be longer or shorter now.
        scrollBy({ top: same.getBoundingClientRect().top - top, behavior: "instant" });
        same.focus();
      });
      tab.className = "tab";
      tab.dataset.language = language;
      return tab;
    });
    figure.querySelector("figcaption span").replaceWith(...tabs);
  }
if (samples.length > 0) showSamples(remembered("language") === "js" ? "js" : "sh");

for (const pre of document.querySelectorAll("figure.code pre")) {
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(pre.textContent.replace(/\n$/, ""));
    copy.textContent = "Copied";
    setTimeout(() => {
      copy.textContent = "Copy";
    }, 1500);
  });
  copy.className = "copy";
  pre.previousElementSibling.append(copy);
}

const isDark = () =>
  (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const theme = button(
  "◐",
  () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remembered("theme", root.dataset.theme);
  },
  "Dark or light",
);
const search = button("Search", async () => (await import("./search.js")).open());
search.title = "Ctrl K, or /";
document.getElementById("tools").append(search, theme);

addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, textarea");
  if ((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !isTyping)) {
    event.preventDefault();
    search.click();
  }
});

const navigation = document.getElementById("navigation");
if (matchMedia("(max-width: 60rem)").matches) navigation.open = false;
const pages = navigation.querySelector("nav");
const here = pages.querySelector('[aria-current="page"]');
if (here) pages.scrollTop = here.offsetTop - pages.offsetTop - pages.clientHeight / 2;
