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

// Show a request with curl, with the package or in Python, and keep the choice for other pages.
const LANGUAGES = { sh: "curl", js: "JavaScript", python: "Python" };
const samples = [...document.querySelectorAll('figure[data-language="sh"]')].flatMap((curl) => {
  const figures = [curl];
  for (;;) {
    const between = figures.at(-1).nextElementSibling;
    const other = between?.nextElementSibling;
    if (!/^(With the package|In Python):$/.test(between?.textContent) || !other?.matches("figure")) break;
    between.hidden = true;
    figures.push(other);
  }
  return figures.length > 1 ? [figures] : [];
});

function showSamples(language) {
  for (const figures of samples) {
    const shown = figures.find(({ dataset }) => dataset.language === language) ?? figures[0];
    for (const figure of figures) figure.hidden = figure !== shown;
  }
}

for (const figures of samples)
  for (const figure of figures) {
    const tabs = figures.map(({ dataset: { language } }) => {
      const tab = button(LANGUAGES[language], () => {
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
      tab.setAttribute("aria-pressed", language === figure.dataset.language);
      return tab;
    });
    figure.querySelector("figcaption span").replaceWith(...tabs);
  }
if (samples.length > 0) showSamples(remembered("language") ?? "sh");

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
// The dialog opens at once; the index follows, and finds what was typed meanwhile.
const dialog = document.createElement("dialog");
dialog.setAttribute("aria-label", "Search");
dialog.innerHTML =
  '<form method="dialog"><input type="search" aria-label="Search guides and reference" placeholder="Search guides and reference" autocomplete="off"><button>Close</button></form><p role="status"></p><ol></ol>';
document.body.append(dialog);
const input = dialog.querySelector("input");
const search = button("Search", () => {
  if (dialog.open) return;
  input.value ||= sessionStorage.getItem("search") ?? "";
  dialog.showModal();
  input.select();
});
search.addEventListener("click", async () => (await import("./search.js")).attach(dialog), { once: true });
input.addEventListener("input", () => sessionStorage.setItem("search", input.value));
dialog.addEventListener("keydown", (event) => {
  const links = [...dialog.querySelectorAll("a")];
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
