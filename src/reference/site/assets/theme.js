// Runs before the page is drawn, so that a dark page does not flash in light colors.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {}
