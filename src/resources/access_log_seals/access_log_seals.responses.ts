import * as z from "zod";
import { count, day, id, sha256 } from "../../http/wire.ts";
import { MAX_PER_PAGE } from "../../limits.ts";
import * as story from "../../openapi/story.ts";

export const accessLogSealSchema = z
  .object({
    date: day().meta({
      description:
        "The UTC date of the day. A day without entries has no seal. An entry that came after its day was sealed is in the seal of the next day that has one.",
      example: story.SEAL.date,
    }),
    count: z.int().min(1).meta({ description: "The number of entries.", example: story.SEAL.count }),
    first_id: id().meta({ description: "The id of the first entry.", example: story.SEAL.first_id }),
    last_id: id().meta({
      description:
        "The id of the last entry. The next seal begins after it, so each entry is in exactly one seal.",
      example: story.SEAL.last_id,
    }),
    sha256: sha256().meta({
      description: "The SHA-256 of the file of the day, uncompressed, in hex.",
      example: story.SEAL.sha256,
    }),
    previous: sha256().nullable().meta({
      description:
        "The SHA-256 of the `jws` of the seal before, as it is written, in hex; null for the first one.",
      example: story.SEAL.previous,
    }),
    jws: z
      .string()
      .max(2000)
      .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)
      .meta({
        description:
          "The signature: a compact JWS with the algorithm EdDSA (Ed25519). Its payload is JSON with the other fields and `organization_id`. The public keys are at `/.well-known/jwks.json`, by `kid`.",
        example: story.SEAL.jws,
      }),
  })
  .meta({
    id: "AccessLogSeal",
    description: "A signed statement of what the file of a sealed day of the access log holds.",
  });

export const accessLogSealsSchema = z.object({
  access_log_seals: z.array(accessLogSealSchema).max(MAX_PER_PAGE).describe("The next seals, oldest first."),
  next_after: count().describe(
    "The `after` of the next request: the `last_id` of the last seal here. If there is none, it is the `after` of this request.",
  ),
});

/** The largest file that any client keeps as one text. */
const MAX_FILE = 2 ** 31 - 1;

export const sealedFileSchema = z
  .string()
  .max(MAX_FILE)
  .meta({
    override: { type: "string", format: "binary" },
    description:
      "The entries in the order of their ids, gzipped: an entry as JSON and a newline (`\\n`) on each line, as `GET /access_logs` shows it. `sha256` of the seal is the digest of these lines.",
  });
