import { ApiError, notFound, unprocessable } from "../../http/errors.ts";
import { FILE_DELETION_RETRY_AFTER } from "../../lifetimes.ts";
import { MAX_STORAGE_KEY_LENGTH } from "../../limits.ts";
import { grouped } from "../../units.ts";

export const egressNotFound = () => notFound("Egress");

export const egressNamesNoCall = () =>
  unprocessable("first_report_incomplete", "egress.call_key: the first report must name a call");

export const egressOfUnknownCall = () =>
  unprocessable("call_unknown", "egress.call_key: there is no call with this key: report the call first");

export const egressOfAnotherCall = () =>
  unprocessable("other_call", "egress.call_key: must be the call of the first report, or left out");

export const egressWithoutStatus = () =>
  unprocessable("first_report_incomplete", "egress.status: is required in the first report");

export const egressUserNotMember = () =>
  unprocessable("not_a_member", "egress.user_id: must be the user_id of a user of the organization");

export const NOT_A_PATH = "must be a path without empty, . and .. segments";
export const STORAGE_KEY_TOO_LONG = `must have at most ${grouped(MAX_STORAGE_KEY_LENGTH)} bytes in UTF-8`;

export const fileNotOfOrganization = () =>
  unprocessable(
    "file_of_other_organization",
    "egress.storage_key: must begin with the organization's slug and a slash",
  );

export const fileOfAnotherRecording = () =>
  unprocessable(
    "file_of_other_recording",
    "egress.storage_key: is, or was, the file of another recording: store each under a key of its own",
  );

export const egressNotEnded = () =>
  unprocessable(
    "recording_not_ended",
    "The recording cannot be deleted yet: it and its call must have ended",
  );

export const fileNotDeleted = () =>
  new ApiError(503, "file_not_deleted", "The file could not be deleted now: the service keeps trying", {
    headers: { "Retry-After": String(FILE_DELETION_RETRY_AFTER) },
    reason: "file_not_deleted",
  });

/** The deletion stays due, as after a storage failure, so the request need not be repeated. */
export const fileKeptWhileQuiet = () =>
  new ApiError(
    503,
    "service_quiet",
    "The database was restored: the file is deleted when the operator resumes the service",
    { headers: { "Retry-After": String(FILE_DELETION_RETRY_AFTER) }, reason: "database_quiet" },
  );
