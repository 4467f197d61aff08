import * as z from "zod";
import { id } from "../../http/wire.ts";

export const soapNoteSchema = z.object({ id, text: z.string(), is_final: z.boolean() });
