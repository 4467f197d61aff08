import { notFound } from "../../http/errors.ts";

export const accessLogsNotFound = () => notFound("Access logs");
