import { ERROR_CODE, methodNotAllowed } from "../http/errors.ts";
import { notReady } from "../http/health.ts";
import { references as allReferences } from "./references.ts";
import { type Document, examplesOf, type Operation } from "./site/openapi.ts";

/** Advice on an error, by its code, where its text gives none: the contract fixes some texts. */
const ADVICE: Record<string, string> = {
  account_exists: "Change the existing organization user instead.",
  https_required: "Replace the credentials: they were sent unencrypted.",
  identity_provider_unavailable:
    "Send the token again. If the error persists, check the issuer's `jwks_url`.",
  internal_error:
    "Try again a few times, with growing pauses. If the error persists, report the `X-Request-Id`.",
  invalid_client: "Check `X-Client-ID` and `X-Client-Secret`, and whether the API client was revoked.",
  invalid_code: "Exchange the token again: a code works only once, and only for a short time.",
  invalid_livekit_signature:
    "Check that the LiveKit server and this service have the same API key and secret.",
  invalid_platform_token: "Check the token in `Authorization`.",
  invalid_token:
    "Have the person sign in again at the identity provider. If the error persists, ask the operator.",
  invite_pending: "To send the invite again, use `POST /invites/{id}/resend`.",
  line_unknown: "Read the transcript again, and use the ids of its lines.",
  link_invalid: "Ask the organization for a new link.",
  not_ready: "For the operator: find the cause in the log by the request id.",
  organization_reserve_limit: "If it is urgent, ask the operator.",
  personal_room: "Remove the role provider: the personal room is then retired.",
  room_in_use: "Wait until the participants have left and the call has ended.",
  room_inactive: "Set `is_active` of the room to true first.",
  slug_outdated: "Read the list of rooms, and use the room's current slug.",
  sub_overlaps: "Choose other times, or change or delete the other sub.",
  text_final: "Correct the final text in the external API.",
  too_many_bodies: "Send a `Content-Length`.",
  visit_cancelled: "Plan another visit.",
  visit_over: "Plan another visit.",
};

export const codesOf = ({ responses }: Operation): string[] =>
  Object.values(responses).flatMap(
    ({ headers = {} }) => (headers[ERROR_CODE]?.schema.enum ?? []) as string[],
  );

interface Refusal {
  code: string;
  status: number | string;
  text: string;
}

/** The errors that belong to no operation: of a method that a path does not have, and of `/health`. */
const OF_NO_OPERATION = [methodNotAllowed(["GET", "PUT"]), notReady("database_unreachable")];

const refusalsOf = ({ responses }: Operation): Refusal[] =>
  Object.entries(responses)
    .filter(([status]) => status >= "400")
    .flatMap(([status, { content = {} }]) =>
      Object.values(content)
        .flatMap(examplesOf)
        .map(({ summary = "", value }) => ({
          code: summary,
          status,
          text: (value as { error: string }).error,
        })),
    );

/** The operations' own facts, by the `operationId`. */
const references = new Map(
  allReferences
    .flatMap(({ external = {}, platform = {}, livekit = {} }) => [external, platform, livekit])
    .flatMap((each) => Object.values(each))
    .map((operation) => [operation.operationId, operation] as const),
);

/** Whether an error comes from what operations share: an operation has it that does not name it as its own. */
const sharedErrors = (document: Document): Refusal[] =>
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => {
      const own = references.get(operation.operationId)?.errors ?? [];
      return refusalsOf(operation).filter(({ text }) => !own.some(({ message }) => message === text));
    });

/** A table with a row for each code, with its statuses and the text of an error that has it. */
function tableOf(refusals: Refusal[]): string {
  const rows = [...Map.groupBy(refusals, ({ code }) => code)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, its]) => {
      const statuses = [...new Set(its.map(({ status }) => status))].join(", ");
      return `| \`${code}\` | ${statuses} | \`${its[0]?.text}\`${adviceOn(code)} |`;
    });
  return ["| Code | Status | Text, for example |", "| --- | --- | --- |", ...rows].join("\n");
}

const adviceOn = (code: string) => (ADVICE[code] ? `. ${ADVICE[code]}` : "");

/** The tables of an API's error codes: those that operations share, and all others. */
export function codesTables(document: Document): { shared: string; others: string } {
  const shared = sharedErrors(document);
  const codes = new Set(shared.map(({ code }) => code));
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods).flatMap(refusalsOf));
  const others = [
    ...all.filter(({ code }) => !codes.has(code)),
    ...OF_NO_OPERATION.map(({ code, status, message }) => ({ code, status, text: message })),
  ];
  return { shared: tableOf(shared), others: tableOf(others) };
}

/** A function that lists the errors of an operation, with the reasons for a status, which not every operation has. */
export function ownErrors(document: Document): (operation: Operation) => string[] {
  const shared = new Set(sharedErrors(document).map(({ text }) => text));
  return ({ operationId }) => {
    const { refusals = {}, errors = [] } = references.get(operationId) ?? {};
    const own = errors.filter(({ message }) => !shared.has(message));
    const byCode = Map.groupBy(own, ({ status, code }) => `\`${status}\` \`${code}\``);
    const lines = [
      ...Object.entries(refusals).map(([status, reason]) => `- \`${status}\`: ${reason}`),
      ...[...byCode].map(([name, its]) => {
        const texts = [...new Set(its.map(({ message }) => `"${message}"`))].join(" or ");
        return `- ${name}: ${texts}${adviceOn(its[0]?.code ?? "")}`;
      }),
    ];
    return lines.sort((a, b) => (a.slice(0, 6) < b.slice(0, 6) ? -1 : 1));
  };
}
