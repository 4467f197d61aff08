import { describe, expect, it } from "vitest";
import { inviteMail } from "../../../src/joining/invite_mails/invite_mails.content.ts";
import { mailName } from "../../../src/organization/organizations/organizations.merge.ts";

const accept_url = "https://app.test/invites/accept?token=abc.def&lang=en";
const expires_at = Date.parse("2026-11-29T10:05:00Z");

const mailOf = (name: string) =>
  inviteMail({ email: "ivy@example.com", mail_name: mailName(name), accept_url, expires_at });

const linksIn = (html: string) =>
  [...html.matchAll(/href="([^"]*)"/g)].map(([, link = ""]) => link.replaceAll("&amp;", "&"));

const tagsIn = (html: string) => html.replace(/>[^<]*</g, "><").replace(/^[^<]*|[^>]*$/g, "");

describe("inviteMail", () => {
  it("says in plain text who invites, where to accept, and until when", () => {
    expect(mailOf("Riverside Clinic")).toMatchObject({
      to: "ivy@example.com",
      subject: "Invitation to Riverside Clinic",
      text: `Riverside Clinic invites you to its video visits.

To accept, open this link:

${accept_url}

It can be used until 29 November 2026 at 10:05 UTC.

Anyone who has this link can accept. Please do not pass it on.
If you do not know Riverside Clinic, please ignore this mail.
`,
    });
  });

  it("says the same in HTML, with only that link and nothing to fetch", () => {
    const { html } = mailOf("Riverside Clinic");
    expect(new Set(linksIn(html))).toEqual(new Set([accept_url]));
    expect(html).toContain("<b><bdi>Riverside Clinic</bdi></b> invites you");
    expect(html).toContain("29 November 2026 at 10:05 UTC");
    expect(html).not.toMatch(/<(img|script|link|iframe)|src=|url\(|@import/i);
  });
});

const plain = mailOf("Clinic");

describe("The organization's name in the mail", () => {
  it.each([
    ["a tag", `<img src=x onerror="alert(1)">`],
    ["the end of an element", "</bdi></b></p><a href='https://evil.test'>Click</a>"],
    ["an attribute", `" onmouseover="alert(1)`],
    ["a comment", "<!-- <title> -->"],
    ["an entity", "&lt;b&gt; &amp; &#60;"],
  ])("cannot break out of the HTML with %s", (_, name) => {
    const { html } = mailOf(name);
    expect(tagsIn(html)).toBe(tagsIn(plain.html));
    expect(new Set(linksIn(html))).toEqual(new Set([accept_url]));
  });

  it.each([
    ["a line break", "Clinic\r\nBcc: all@example.com\r\n\r\nHello"],
    ["a line feed", "Clinic\nSubject: Hello"],
    ["line separators", "Clinic\u2028Bcc: x\u2029y\u0085z\u000bq"],
    ["other control characters", "Clinic\u0000\u001b[31m"],
  ])("cannot begin a line or a header with %s", (_, name) => {
    const { subject, text } = mailOf(name);
    expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    expect(subject.startsWith("Invitation to Clinic")).toBe(true);
    expect(text.split(/[\r\n\u2028\u2029\u0085\v\f]/).length).toBe(plain.text.split("\n").length);
  });

  it.each([
    ["bidi overrides", "\u202eClinic\u202c"],
    ["bidi isolates", "\u2067Clinic\u2069"],
    ["bidi marks", "\u200fClinic\u200e\u061c"],
    ["invisible marks", "\ufeffCli\u00adnic\u2060\u200b"],
  ])("cannot reorder or hide the surrounding text with %s", (_, name) => {
    expect(mailOf(name)).toEqual(plain);
  });

  it("keeps its letters, in any script, and their joiners", () => {
    for (const name of ["Praxis Müller & Söhne", "עברית", "کلینیک می\u200cخواهم", "診療所"])
      expect(mailOf(name).subject).toBe(`Invitation to ${name}`);
    expect(mailOf("Müller & Söhne").html).toContain("<bdi>Müller &amp; Söhne</bdi>");
  });

  it("is replaced if nothing of it is left", () => {
    expect(mailOf("\u202e\u200b").subject).toBe("Invitation to an organization");
    expect(mailOf("\u202e\u200b").text).toMatch(/^an organization invites you/);
  });

  it.each([
    ["https://evil.example/login", ""],
    ["PayPal Security https://evil.example", "PayPal Security"],
    ["HTTPS://evil now", "now"],
    ["mailto:x tel:0900123 Clinic", "Clinic"],
    ["ask help@clinic or help＠clinic.example today", "ask or today"],
    ["Go to evil.com, www.evil.com/x (evil.co) and evil。com", "Go to and"],
    ["evil．com evil\u200c.c\u200com evil.xn--p1ai Evil.клиника 10.0.0.1", ""],
    ["\\\\server\\share Clinic", "Clinic"],
    ["Verein e.V. No. 4, d.o.o. Dr. Müller (9:30)", "Verein e.V. No. 4, d.o.o. Dr. Müller (9:30)"],
  ])("loses words that could become a link: %s", (name, left) => {
    expect(mailName(name)).toBe(left);
  });

  it("is at most 80 characters long, and no character is cut in two", () => {
    expect(mailName("x".repeat(80))).toBe("x".repeat(80));
    expect(mailName("x".repeat(81))).toBe(`${"x".repeat(79)}…`);
    expect(mailName(`${"x".repeat(78)} yz`)).toBe(`${"x".repeat(78)}…`);
    expect(mailName("🏥".repeat(90))).toBe(`${"🏥".repeat(79)}…`);
  });
});
