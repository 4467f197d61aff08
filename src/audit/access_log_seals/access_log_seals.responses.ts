import * as z from "zod";
import { count, day, id, sha256 } from "../../http/wire.ts";
import { MAX_PER_PAGE } from "../../limits.ts";
import { field } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";

export const accessLogSealSchema = z
  .object({
    date: day().meta({
      description:
        "The UTC date of the sealed day. A day without entries has no seal. An entry that arrives after its day was sealed goes into the seal of the next day that has one.",
      example: story.SEAL.date,
    }),
    count: z.int().min(1).meta({ description: "The number of entries.", example: story.SEAL.count }),
    first_id: id().meta({ description: "The id of the first entry.", example: story.SEAL.first_id }),
    last_id: id().meta({
      description:
        "The id of the last entry. The next seal begins after it, so every entry is in exactly one seal.",
      example: story.SEAL.last_id,
    }),
    sha256: field(sha256(), "The SHA-256 of the day's file, uncompressed, in hex.", story.SEAL.sha256),
    previous: sha256().nullable().meta({
      description:
        "The SHA-256 of the previous seal's `jws`, exactly as written, in hex; null for the first seal.",
      example: story.SEAL.previous,
    }),
    jws: z
      .string()
      .max(2000)
      .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)
      .meta({
        description:
          "The signature: a compact JWS with the algorithm EdDSA (Ed25519). Its payload is JSON with the other fields and `organization_id`. Look up the public key by its `kid` at `/.well-known/jwks.json`.",
        example: story.SEAL.jws,
      }),
  })
  .meta({
    id: "AccessLogSeal",
    description: "A signed statement of what the file of a sealed day of the access log contains.",
  });

export const accessLogSealsSchema = z.object({
  access_log_seals: z.array(accessLogSealSchema).max(MAX_PER_PAGE).describe("The next seals, oldest first."),
  next_after: count().describe(
    "The `after` of the next request: the `last_id` of the last seal here, or the `after` of this request if there is none.",
  ),
});

export const sealedFileSchema = z
  .string()
  // The largest file that any client can hold as a string.
  .max(2 ** 31 - 1)
  .meta({
    override: { type: "string", format: "binary" },
    description:
      "The entries in the order of their ids, gzipped. Each line is an entry as JSON, as `GET /access_logs` shows it, with a newline (`\\n`) at the end. The seal's `sha256` is the digest of these lines.",
  });
