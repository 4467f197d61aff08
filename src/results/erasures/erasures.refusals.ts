import { notFound } from "../../http/errors.ts";

/** The error for clients that may not erase anybody. */
export const participantsNotFound = () => notFound("Participants");
