import { notFound } from "../../http/errors.ts";

export const eventsNotFound = () => notFound("Events");
