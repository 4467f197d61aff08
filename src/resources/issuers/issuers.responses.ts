import * as z from "zod";
import { id } from "../../http/wire.ts";

export const issuerSchema = z.object({
  id,
  organization_id: id,
  issuer: z.string(),
  audience: z.string(),
  jwks_url: z.url(),
  email_claim: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
