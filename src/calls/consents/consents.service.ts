import { recordedListOfCall } from "../calls/calls.entries.ts";
import { consentsOfPath } from "./consents.sql.ts";

export const listConsents = recordedListOfCall("consent", consentsOfPath);
