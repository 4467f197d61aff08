import * as z from "zod";
import { readLinkToken, signLinkToken } from "../../http/link_tokens.ts";
import { id, pathId } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import type { Settings } from "../../settings.ts";
import { visitLinkNotValid } from "./visits.refusals.ts";
import type { Visit, VisitWithLinks } from "./visits.schemas.ts";
import type { NamedByLink } from "./visits.sql.ts";

/** A link names its visit by id and `created_at`: after a restore, an old link must not match a new visit with the same id. */
const tokenClaims = lazily(() =>
  z.object({ sub: pathId(), organization_id: id(), visit_id: id(), created_at: z.int() }),
);

/** Adds the link of each participant. Links are signed, not stored: the same participant always gets the same link. */
export async function withLinks(settings: Settings, visit: Visit): Promise<VisitWithLinks> {
  const { id: visit_id, organization_id, created_at, waiting_room_slug } = visit;
  const participants = visit.participants.map(async (each) => {
    const claims = { sub: String(each.id), organization_id, visit_id, created_at };
    const token = await signLinkToken(settings, "visit+jwt", claims);
    return { ...each, join_url: `${settings.APP_URL}/meet/${waiting_room_slug}?visit=${token}` };
  });
  return { ...visit, participants: await Promise.all(participants) };
}

export async function verifyVisitToken(settings: Settings, token: string): Promise<NamedByLink> {
  const named = await readLinkToken(settings, "visit+jwt", tokenClaims(), token);
  if (!named) throw visitLinkNotValid();
  return { ...named, participant_id: named.sub };
}
