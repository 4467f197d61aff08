import * as z from "zod";

export const authorizationCodeSchema = z.object({ code: z.string() });
