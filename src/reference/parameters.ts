import * as z from "zod";
import { ACTING_USER, PURPOSE_OF_USE } from "../http/acting_user.ts";
import { IDEMPOTENCY_KEY } from "../http/validation.ts";
import { MAX_IF_MATCH_LENGTH, MAX_PER_PAGE, MAX_SKIPPED } from "../limits.ts";
import { ETAG, type Parameter } from "../openapi/operation.ts";
import { CALL, CARDIOLOGY, CLINIC, PAULA } from "../openapi/story.ts";
import { grouped } from "../units.ts";
import { BOOKMARK_EXAMPLE, bookmark } from "./headers.ts";

const ROOM_SLUG = { description: "The current slug of the waiting room.", example: CARDIOLOGY.slug };

/** Most parameters mean the same in every operation. An operation can override their descriptions. */
const parameters: Record<string, Parameter> = {
  [IDEMPOTENCY_KEY]: {
    description:
      "A unique key for this request, such as a UUID. A request that is sent again with the same key is not carried out a second time.",
    example: "0b9f4c1e-6f0a-4e55-9d3c-2f6a7c1d8e90",
  },
  [ACTING_USER]: {
    description:
      "The person for whom your system sends the request: your own id for them, not a name. The access log shows it. It is not checked, and grants no rights.",
    example: "staff-4711",
  },
  [PURPOSE_OF_USE]: {
    description:
      "The purpose of the request, as an HL7 code: treatment (`TREAT`), operations (`HOPERAT`), payment (`HPAYMT`), an emergency (`ETREAT`), the patient's own request (`PATRQT`), public health (`PUBHLTH`), research (`HRESCH`), or breaking the glass (`BTG`). The access log shows it.",
    example: "TREAT",
  },
  page: {
    description: `The number of the page. The first page is 1. A page past the end is an empty list. Only the first ${grouped(MAX_SKIPPED)} items of a list can be read in pages; beyond them, the status is 400.`,
    example: 1,
  },
  per_page: {
    description: `The number of items on a page. A value above ${MAX_PER_PAGE} counts as ${MAX_PER_PAGE}.`,
    example: 25,
  },
  slug: ROOM_SLUG,
  waiting_room_slug: ROOM_SLUG,
  organization_id: { description: "The id of the organization.", example: CLINIC.id },
  organization_user_id: {
    description: "The organization user who held the call: an `id` of `GET /organization_users`.",
    example: PAULA.id,
  },
  call_id: {
    description: "The id of the call: an `id` of the list of the organization user's calls.",
    example: CALL.id,
  },
  key: { description: "The key under which the call was reported.", example: CALL.key },
  event: { description: "Only entries of this event.", example: "read" },
  from: { description: "Only entries from the start of this day (UTC).", example: "2026-01-31" },
  to: {
    description: "Only entries up to the end of this day (UTC). It must not be before `from`.",
    example: "2026-02-28",
  },
};

/** A parameter of every GET: see src/http/replication.ts. */
export const bookmarkParameter = bookmark()
  .optional()
  .meta({
    description:
      "The `X-D1-Bookmark` of an earlier response: this response then shows at least the same state of the database. A value that is not a bookmark is ignored, and so is a bookmark that the database cannot use, for example after a restore.",
    param: { example: BOOKMARK_EXAMPLE },
  });

/** A parameter of a PUT or DELETE if the resource has an ETag: see src/http/preconditions.ts. */
export const ifMatchParameter = z
  .string()
  .max(MAX_IF_MATCH_LENGTH)
  .regex(/^[ -~]*$/)
  .optional()
  .meta({
    description:
      "The `ETag` of the version that you have read, a list of several, or `*`. A weak ETag counts as well: proxies weaken the ETags of responses that they compress. If the resource has changed since then, the request changes nothing and gets 412. Without this header, the change applies to any version.",
    param: { example: ETAG.ETag?.example },
  });

export function described(schema: z.ZodType, own: Record<string, Parameter> = {}) {
  if (!(schema instanceof z.ZodObject)) throw new Error("The schema of parameters must be an object");
  return z.object(
    Object.fromEntries(
      Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, field]) => {
        const parameter = own[name] ?? parameters[name];
        if (!parameter) throw new Error(`No description of the parameter ${name}`);
        const { description, example } = parameter;
        return [name, field.meta({ ...field.meta(), description, param: { example } })];
      }),
    ),
  );
}
