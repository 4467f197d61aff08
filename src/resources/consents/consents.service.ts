import { recordedListOfCall } from "../calls/calls.entries.ts";
import { consentsOfPath } from "./consents.sql.ts";

/** What the participants of a call decided on being recorded, oldest first. */
export const listConsents = recordedListOfCall("consent", consentsOfPath);
