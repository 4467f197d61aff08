import * as z from "zod";
import { id } from "../../http/wire.ts";

const fields = { id, name: z.string(), organization_user_id: id, client_id: z.string() };

export const apiClientSchema = z.object({ ...fields, revoked_at: z.iso.datetime().nullable() });

export const issuedApiClientSchema = z.object({ ...fields, client_secret: z.string() });
