import * as z from "zod";
import { lazily } from "../../memory.ts";
import { holdReason } from "./legal_holds.fields.ts";

export const holdCallBody = lazily(() =>
  z.object({ legal_hold: z.object({ reason: holdReason() }).partial() }),
);

export type HoldReport = z.output<ReturnType<typeof holdCallBody>>["legal_hold"];
