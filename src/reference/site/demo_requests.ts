import { CALL, CARDIOLOGY, EGRESS, OLGA, PAULA, SAM } from "../../openapi/story.ts";
import type { Page } from "./pages.ts";

const USER = "organization_users/|user_id\\W{1,4}|admin_id\\W{1,4}";

/** What stands before an id, the id in the examples, and that of the demo organization in a new database: see demo_organization.ts. */
const IDS: [string, number, number][] = [
  [USER, OLGA.id, 2],
  [USER, PAULA.id, 3],
  [USER, SAM.id, 4],
  ["calls/|call_id\\W{1,4}", CALL.id, 1],
  ["egresses/|egress_id\\W{1,4}", EGRESS.id, 1],
];

/**
 * In the local reference, the requests name what the demo organization has, and plan ahead, so that they work as they stand. Responses
 * keep telling the story of the examples.
 */
export function withDemo(page: Page): Page {
  const { markdown, request } = page;
  return {
    ...page,
    markdown: markdown.replace(/```(?:sh|js|python)\n[\s\S]*?```/g, ofDemo),
    request: request && {
      ...request,
      path: ofDemo(request.path),
      ...(request.body !== undefined && { body: ofDemo(request.body) }),
    },
  };
}

function ofDemo(text: string): string {
  // A visit can be planned up to two years ahead.
  const nextYear = new Date().getUTCFullYear() + 1;
  const ahead = text.replace(/((?:starts|ends)_at\W{1,4})\d{4}(?=-)/gi, `$1${nextYear}`);
  return IDS.reduce(
    (changed, [before, id, own]) => changed.replace(new RegExp(`(${before})${id}\\b`, "gi"), `$1${own}`),
    ahead.replaceAll(CARDIOLOGY.slug, "demo-clinic--cardiology"),
  );
}
