// Only in the local reference: sends the example of the page to this server, with the credentials of the demo. A published
// reference has no such form, because nobody should type a secret into a page.
const main = document.querySelector("main");
const example = document.querySelector(".example");
const { method, path, headers, body } = JSON.parse(main.dataset.request);

const form = document.createElement("form");
form.className = "try";
form.innerHTML = `
<p><label>Path <input name="path" spellcheck="false"></label></p>
<p><label>Headers <textarea name="headers" rows="3" spellcheck="false"></textarea></label></p>
<p><label>Body <textarea name="body" rows="8" spellcheck="false"></textarea></label></p>
<p><button>Send</button> <output></output></p>
<pre tabindex="0" hidden></pre>`;
const field = (name) => form.elements.namedItem(name);
field("path").value = path;
field("headers").value = Object.entries(headers)
  .map(([name, value]) => `${name}: ${value}`)
  .join("\n");
field("body").value = body ?? "";
if (body === undefined) field("body").closest("p").remove();

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [output, pre] = [form.querySelector("output"), form.querySelector("pre")];
  output.textContent = "…";
  const sent = field("headers")
    .value.split("\n")
    .filter((line) => line.includes(":"));
  const response = await fetch(field("path").value, {
    method,
    headers: sent.map((line) => [
      line.slice(0, line.indexOf(":")).trim(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
    body: field("body")?.value,
    redirect: "manual",
  }).catch((error) => error);
  if (response instanceof Error) {
    output.textContent = response.message;
    return;
  }
  output.textContent = `${response.status} ${response.statusText}`;
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  pre.textContent = `${lines.join("\n")}\n\n${readable(await response.text())}`;
  pre.hidden = false;
});

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const details = document.createElement("details");
details.className = "fold";
const summary = document.createElement("summary");
summary.textContent = "Try it";
details.append(summary, form);
example.querySelector("h2").after(details);
