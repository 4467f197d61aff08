/** The pages of the web app. They have no scripts, and show nothing that the service has not said. */
import { ACTS, type Visitor } from "./stories.ts";

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 42rem; margin: 0 auto; padding: 1.5rem; }
  dt { font-weight: 600; }
  dd { margin: 0 0 0.75rem; }
  button, input { font: inherit; padding: 0.5rem 1rem; margin: 0 0.5rem 0.5rem 0; max-width: 100%; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid; padding: 0.75rem; font-size: 0.85rem; }
`;

const escaped = (value: unknown) =>
  String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${content}
<p><small>This is the development web app of <code>npm run dev</code>. It plays your web app and your media server. After a call, it also plays the recorder and the transcription.</small></p>
</main>
</body>
</html>
`;

export const messagePage = (title: string, text: string): string => page(title, `<p>${escaped(text)}</p>`);

/** Accepts only after a click: programs that scan mail open links too. */
export const invitePage = (): string =>
  page("You are invited", `<form method="post"><button>Accept the invite</button></form>`);

/** @param isSignedIn whether the person has signed in with an account */
export function meetPage(
  { person, room, holder, visit }: Visitor,
  { state, isSignedIn, requests }: { state: string; isSignedIn: boolean; requests: string[] },
): string {
  const facts = {
    "Comes in": `${person.display_name}, as ${person.role}`,
    "Reported as": person.key,
    "Is sent to": room,
    Visit: visit
      ? `${visit.id} (${visit.status}), ${visit.starts_at} to ${visit.ends_at}`
      : "none is planned",
    Now: state,
  };
  const list = Object.entries(facts).map(([term, fact]) => `<dt>${term}</dt><dd>${escaped(fact)}</dd>`);
  const mustSignIn = person.user_id !== null && !isSignedIn;
  // Without a link or a sign-in, the visitor's name is not known.
  const name =
    visit || isSignedIn
      ? ""
      : `<p><label>Your name <input name="name" value="${escaped(person.display_name)}"></label></p>`;
  const isHeld = holder !== null || person.user_id !== null;
  const held = isHeld
    ? ""
    : `<p><label>The user who holds the call, an id from <code>GET /organization_users</code>: <input name="holder" inputmode="numeric" pattern="[0-9]*"></label></p>`;
  return page(
    room,
    `<dl>${list.join("")}</dl>
${mustSignIn ? `<p>The link says that user ${escaped(person.user_id)} comes. A real web app asks them to sign in first, because links get forwarded.</p>` : ""}
<form method="post">${name}${held}
<p><label><input type="checkbox" name="consent" checked> Consents to be recorded</label></p>
${ACTS.map((act) => `<button name="act" value="${act}">${act}</button>`).join("")}</form>
<h2>Requests to the service</h2>
<pre tabindex="0">${requests.length > 0 ? requests.map(escaped).join("\n") : "None yet."}</pre>`,
  );
}
