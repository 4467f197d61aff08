import { ERROR_CODE, methodNotAllowed } from "../http/errors.ts";
import { notReady } from "../http/health.ts";
import { API_NAMES, type Api } from "./apis.ts";
import { operationsOf } from "./references.ts";
import { reasonsOf } from "./refusals.ts";
import { type Document, examplesOf, type Operation } from "./site/openapi.ts";

export const codesOf = ({ responses }: Operation): string[] =>
  Object.values(responses).flatMap(
    ({ headers = {} }) => (headers[ERROR_CODE]?.schema.enum ?? []) as string[],
  );

interface Refusal {
  code: string;
  status: string;
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
  API_NAMES.flatMap(operationsOf).map(([, operation]) => [operation.operationId, operation] as const),
);

/** Whether an error comes from what operations share: an operation has it that does not name it as its own. */
const sharedErrors = (document: Document): Refusal[] =>
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => {
      const own = references.get(operation.operationId)?.errors ?? [];
      return refusalsOf(operation).filter(({ text }) => !own.some(({ message }) => message === text));
    });

/** The tables of an API's errors: those that operations share, by status, and all others, by code. */
export function errorTables(api: Api, document: Document): { shared: string; others: string } {
  const shared = sharedErrors(document);
  const byStatus = [...Map.groupBy(shared, ({ status }) => status)].sort(([a], [b]) => (a < b ? -1 : 1));
  const codes = new Set(shared.map(({ code }) => code));
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods).flatMap(refusalsOf));
  const others = [
    ...all.filter(({ code }) => !codes.has(code)),
    ...OF_NO_OPERATION.map(({ code, status, message }) => ({ code, status: String(status), text: message })),
  ];
  return {
    shared: tableOf(
      ["Status", "Reason", "Codes, and texts for example"],
      byStatus.map(([status, its]) => [status, reasonsOf(api)[Number(status)], linesOf(its)]),
    ),
    others: tableOf(
      ["Code", "Status", "Text, for example"],
      byCode(others).map(([first, its]) => [
        `\`${first.code}\``,
        [...new Set(its.map(({ status }) => status))].join(", "),
        `\`${first.text}\``,
      ]),
    ),
  };
}

const byCode = (refusals: Refusal[]): [first: Refusal, all: Refusal[]][] =>
  [...Map.groupBy(refusals, ({ code }) => code).values()]
    .map((its): [Refusal, Refusal[]] => [its[0] as Refusal, its])
    .sort(([a], [b]) => (a.code < b.code ? -1 : 1));

const linesOf = (refusals: Refusal[]) =>
  byCode(refusals)
    .map(([{ code, text }]) => `\`${code}\`: ${text}`)
    .join("<br>");

const tableOf = (titles: string[], rows: (string | undefined)[][]): string =>
  [titles, titles.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

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
        return `- ${name}: ${texts}`;
      }),
    ];
    return lines.sort((a, b) => (a.slice(0, 6) < b.slice(0, 6) ? -1 : 1));
  };
}
