import * as z from "zod";

export const fhirBundleSchema = z.looseObject({}).meta({
  id: "FhirBundle",
  description: "A call as a `Bundle` of the type `transaction`, for a FHIR R4 server.",
  example: { resourceType: "Bundle", type: "transaction", entry: [] },
});

const uuid = z.uuid().meta({
  description: "The UUID of the call's vCon. It never changes.",
  example: "019c1347-4840-812c-8f5a-2b0c7d19e6a3",
});

export const vconSchema = z.looseObject({ uuid }).meta({ id: "Vcon", description: "A call as a vCon." });

const base64url = (description: string, example: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/)
    .meta({ description, example });

const signature = z.object({
  protected: base64url("`alg`, `typ` and `kid`.", "eyJhbGciOiJFZERTQSJ9"),
  header: z.object({ uuid }).meta({ description: "Unsigned." }),
  signature: base64url("The signature.", "YSBzaWduYXR1cmU"),
});

export const signedVconSchema = z
  .object({
    payload: base64url("The vCon.", "eyJ2Y29uIjoiMC40LjAifQ"),
    signatures: z.array(signature).length(1).meta({ description: "The service's signature." }),
  })
  .meta({ id: "SignedVcon", description: "A vCon as a JWS in General JSON Serialization." });
