import * as story from "../../openapi/story.ts";
import type { Page } from "./pages.ts";

/**
 * The ids in the examples, and what they are in a new database: see demo_organization.ts. Of what the demo organization does not have,
 * it is the first that requests create.
 */
const IDS = [
  [story.OLGA.id, 2],
  [story.PAULA.id, 3],
  [story.SAM.id, 4],
  [story.CALL.id, 1],
  [story.EGRESS.id, 1],
  [story.RITAS_PARTICIPANT.id, 2],
  [story.VISIT.id, 1],
  [story.INVITE_ID, 1],
  [story.BULK_INVITE_ID, 1],
  [story.SUB_ID, 1],
  [story.WEBHOOK_ENDPOINT.id, 1],
] as const;

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

export function ofDemo(text: string): string {
  // A visit can be planned up to two years ahead.
  const nextYear = new Date().getUTCFullYear() + 1;
  const ahead = text.replace(/((?:starts|ends)_at\W{1,6})\d{4}(?=-)/gi, `$1${nextYear}`);
  return IDS.reduce(
    (changed, [id, own]) =>
      changed.replace(new RegExp(`(/|id\\W{1,4}|id",\\s+"value": ")${id}\\b`, "gi"), `$1${own}`),
    ahead.replaceAll(story.CARDIOLOGY.slug, "demo-clinic--cardiology"),
  );
}
