import type { Mail } from "../../mail/mail.ts";

interface InviteMail {
  email: string;
  /** The organization's name as last set by the platform; can be empty. */
  mail_name: string;
  accept_url: string;
  expires_at: number;
}

/** Names only the organization: the invitee's name is entered by the inviter, and could say anything. */
export function inviteMail({ email, mail_name, accept_url, expires_at }: InviteMail): Mail {
  const name = mail_name || "an organization";
  const htmlName = `<bdi>${escapeHtml(name)}</bdi>`;
  const link = escapeHtml(accept_url);
  const until = `${new Date(expires_at).toLocaleString("en-GB", DATE_FORMAT)} UTC`;
  const warning = "Anyone who has this link can accept. Please do not pass it on.";
  return {
    to: email,
    subject: `Invitation to ${name}`,
    text: `${name} invites you to its video visits.

To accept, open this link:

${accept_url}

It can be used until ${until}.

${warning}
If you do not know ${name}, please ignore this mail.
`,
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<meta name="color-scheme" content="light dark">
<title>Invitation</title>
<style>
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #14171a !important; color: #e8eaed !important; }
  .small { color: #a9b0b8 !important; }
  .link { color: #8ab4f8 !important; }
}
</style>
</head>
<body class="page" style="margin:0;background:#ffffff;color:#1f2328">
<div style="max-width:520px;margin:0 auto;padding:24px 20px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Arial,sans-serif;overflow-wrap:anywhere">
<p style="margin:0 0 20px;font-size:20px"><b>${htmlName}</b> invites you to its video visits.</p>
<p style="margin:0 0 20px"><a href="${link}" style="display:inline-block;padding:12px 24px;border-radius:6px;background:#0b57d0;color:#ffffff;text-decoration:none">Accept the invitation</a></p>
<p style="margin:0 0 20px">It can be accepted until ${until}.</p>
<p class="small" style="margin:0 0 12px;font-size:14px;color:#57606a">If the button does not work, open this link: <a class="link" href="${link}" style="color:#0b57d0">${link}</a></p>
<p class="small" style="margin:0;font-size:14px;color:#57606a">${warning} If you do not know ${htmlName}, please ignore this mail.</p>
</div>
</body>
</html>
`,
  };
}

/** Options only, because building a formatter takes as long as loading most of the bundle. */
const DATE_FORMAT = { dateStyle: "long", timeStyle: "short", timeZone: "UTC" } as const;

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
