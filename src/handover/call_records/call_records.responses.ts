import * as z from "zod";
import * as story from "../../openapi/story.ts";

const base64url = () => z.string().regex(/^[A-Za-z0-9_-]+$/);

const SERVICE = "https://visits.example.com";

const SEARCH = encodeURIComponent(`${SERVICE}/identifiers/call|${story.CALL.id}`);

export const fhirBundleSchema = z
  .looseObject({
    resourceType: z.literal("Bundle").meta({ description: "Always `Bundle`." }),
    type: z.literal("transaction").meta({ description: "Always `transaction`." }),
    entry: z.array(z.looseObject({})).meta({
      description: "`Encounter`, `Consent`, `DocumentReference` and `Provenance`, each with its `request`.",
    }),
  })
  .meta({
    id: "FhirBundle",
    description: "A call as a transaction for a FHIR R4 server.",
    example: {
      resourceType: "Bundle",
      type: "transaction",
      entry: [
        {
          resource: {
            resourceType: "Encounter",
            identifier: [{ system: `${SERVICE}/identifiers/call`, value: String(story.CALL.id) }],
            status: "finished",
          },
          request: { method: "PUT", url: `Encounter?identifier=${SEARCH}` },
        },
      ],
    },
  });

const uuid = z.uuid().meta({ description: "The same for each vCon of the call." });

export const vconSchema = z
  .looseObject({
    uuid,
    parties: z.array(z.looseObject({})).meta({ description: "The participants." }),
    dialog: z.array(z.looseObject({})).meta({ description: "The call, then its recordings." }),
  })
  .meta({
    id: "Vcon",
    description: "A call as a vCon.",
    example: {
      vcon: "0.4.0",
      uuid: "019c1347-4840-812c-8f5a-2b0c7d19e6a3",
      extensions: ["organization_video_visit"],
      created_at: story.STARTED_AT,
      parties: [{ type: "person", role: "recipient", name: story.RITAS_PARTICIPANT.display_name }],
      dialog: [
        { type: "recording-set", recordings: [], start: story.STARTED_AT, duration: 900, parties: [0] },
      ],
    },
  });

export const signedVconSchema = z
  .object({
    payload: base64url().meta({ description: "The vCon." }),
    signatures: z
      .array(
        z.object({
          protected: base64url().meta({ description: "`alg`, `typ` and `kid`." }),
          header: z.object({ uuid }),
          signature: base64url().meta({ description: "The signature." }),
        }),
      )
      .length(1)
      .meta({ description: "The service's signature." }),
  })
  .meta({
    id: "SignedVcon",
    description: "A vCon as a JWS in General JSON Serialization.",
    example: {
      payload: "eyJ2Y29uIjoiMC40LjAifQ",
      signatures: [
        {
          protected: "eyJhbGciOiJFZERTQSIsInR5cCI6InZjb24randzIn0",
          header: { uuid: "019c1347-4840-812c-8f5a-2b0c7d19e6a3" },
          signature: "YSBzaWduYXR1cmU",
        },
      ],
    },
  });
