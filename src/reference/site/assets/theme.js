// Before anything is drawn: a page that is dark does not begin as a light one.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {}
