import { platformHeaders } from "../simulator/world.ts";
import { Chance } from "../support/chance.ts";
import type { Choice } from "./kinds.ts";
import { Refusal, type Request } from "./model.ts";
import { anySlug, type Operation, pickOwned, scopeOf } from "./operation.ts";
import { includesScope, requireClient } from "./operations/organizations.ts";
import { OPERATIONS } from "./operations.ts";
import type { Story } from "./story.ts";

/** A request of a story: an operation, its caller, and a number from which everything else follows. */
export interface Step {
  operation: string;
  caller: number;
  hasFaults: boolean;
  /** How long the story waits before it, in milliseconds. */
  wait: number;
  number: number;
}

const WRONG_IDS = ["0", "one", "-1", "999999999"];

/** Values of a path's parameter, if the operation says nothing else. */
function pathValue(choice: Choice, name: string): string {
  const { model, chance, organization_id } = choice;
  if (name === "organization_id")
    return String(chance.is(0.95) || !choice.hasFaults ? organization_id : 999_999);
  if (name.endsWith("slug")) return anySlug(choice);
  if (name === "organization_user_id") return String(pickOwned(choice, model.members)?.id ?? 999_999);
  return "999999";
}

export const documentOf = (name: string) => {
  const [api = "", method = "", path = ""] = name.split(" ");
  return { api, method, path };
};

export function prepare(
  story: Story,
  { operation: name, caller, hasFaults, number }: Step,
): Parameters<Story["play"]>[1] {
  const { model } = story;
  model.now = story.world.schedule.now + 1000;
  const operation = OPERATIONS[name] as Operation;
  const { api, method, path } = documentOf(name);
  const chance = new Chance(number);
  const isPlatform = api === "platform";
  const client = isPlatform ? undefined : model.clients[caller % model.clients.length];
  const organization = client?.organization ?? model.organizations[caller % model.organizations.length];
  const choice: Choice = { chance, hasFaults, model, organization_id: organization?.id ?? 0 };
  const isWrong = (share: number) => hasFaults && chance.is(share);

  const given: Record<string, string> = {};
  const own = operation.path?.(choice) ?? {};
  const filled = path.replace(/\{(\w+)\}/g, (_, each: string) => {
    const isId = each.endsWith("id") || each === "id";
    given[each] =
      isId && isWrong(0.03) ? chance.pick(WRONG_IDS) : String(own[each] ?? pathValue(choice, each));
    return encodeURIComponent(given[each]);
  });
  const badId = Object.entries(given).some(
    ([each, value]) =>
      each.endsWith("id") && (each !== "egress_id" || !isPlatform) && !/^[1-9]\d*$/.test(value),
  );

  const sentQuery: Record<string, string> = {};
  for (const [each, { make, bad, isRequired }] of Object.entries(operation.query ?? {}))
    if (isRequired ? !isWrong(0.05) : chance.is(0.15))
      sentQuery[each] = String(isWrong(0.08) ? chance.pick(bad) : make(choice));
  const areUnknown = isWrong(0.03);
  if (areUnknown) sentQuery.colour = "blue";
  const search = new URLSearchParams(sentQuery).toString();

  const body = operation.body?.make(choice);
  const isMalformed = operation.body && isWrong(0.02);
  const text = isMalformed ? "{" : body === undefined ? undefined : JSON.stringify(body);

  const secret = isWrong(0.03) ? "wrong" : client?.client_secret;
  const headers: Record<string, string> = isPlatform
    ? { ...platformHeaders, ...(isWrong(0.02) ? { Authorization: "Bearer wrong" } : {}) }
    : { "X-Client-ID": client?.client_id ?? "", "X-Client-Secret": secret ?? "" };
  const isActing = chance.is(0.8);
  if (isActing && !isPlatform) Object.assign(headers, { "X-Acting-User": "u1", "X-Purpose-Of-Use": "TREAT" });

  const parameters = Object.entries(operation.query ?? {});
  const isValid = parameters.every(([each, { accepts, isRequired }]) =>
    sentQuery[each] === undefined ? !isRequired : accepts(sentQuery[each]),
  );
  const query: Request["query"] = Object.fromEntries(
    parameters.flatMap(([each, { read }]) =>
      sentQuery[each] === undefined ? [] : [[each, read(sentQuery[each] as never)]],
    ),
  );
  const isRightQuery = isValid && (!query.from || !query.to || query.from <= query.to);
  const request: Partial<Request> & { refusal?: Refusal } = {
    path: given,
    query,
    sent: body,
  };
  const refuse = (status: number, code: string) => {
    request.refusal ??= new Refusal(status, code);
  };
  if (isPlatform && headers.Authorization !== platformHeaders.Authorization)
    refuse(401, "invalid_platform_token");
  if (!isPlatform) {
    try {
      const asking = requireClient(model, secret === "wrong" ? undefined : client);
      request.caller = { organization: asking.organization, member: asking.member, client: asking };
      model.requireNotSuspended(asking.organization);
      const scope = scopeOf(operation.area ?? null, method);
      if (scope && !includesScope(asking.scopes, scope)) refuse(403, "missing_scope");
      if (operation.roles && !operation.roles.some((role) => asking.member.roles.includes(role)))
        refuse(403, "missing_role");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refuse(error.status, error.code);
    }
  }
  if (badId) refuse(404, "not_found");
  // The service compares the names of parameters when it validates the last part of a request.
  if (areUnknown && !operation.query && !operation.body) refuse(400, "unknown_parameter");
  const { isRecorded } = operation;
  const isRead = typeof isRecorded === "function" ? isRecorded(query) : isRecorded;
  if (isRead && request.caller?.organization.require_acting_user && !isActing)
    refuse(400, "acting_user_required");
  if (isMalformed) refuse(400, "malformed_json");
  if (areUnknown) refuse(400, "unknown_parameter");
  if (!isRightQuery) refuse(400, "validation_failed");
  if (operation.body && !operation.body.accepts(body)) refuse(422, "validation_failed");
  if (operation.body && !request.refusal) request.body = operation.body.read(body as never);
  const target = `/api/${api}${filled}${search && `?${search}`}`;
  return { sent: { method, path: target, headers, body: text }, request };
}
