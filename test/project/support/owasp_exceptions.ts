/** What OWASP's rules find in the documents, and is right as it is. */
interface Exception {
  rule: string;
  /** Places: the API, and the words of the path in its document. `*` is one word or a part of one, `**` is any words. */
  where: string[];
  reason: string;
}

/** All that the service answers but 429. */
const STATUSES = [200, 201, 202, 204, 400, 401, 403, 404, 409, 413, 422];

const IDS = ["id", "organization_id", "organization_user_id", "call_id", "egress_id"];

export const EXCEPTIONS: Exception[] = [
  {
    rule: "api1:2023-no-numeric-ids",
    where: IDS.map((name) => `* paths * * parameters ${name} schema`),
    reason:
      "The contract says that ids are integers. To guess one is of no use: what a caller may reach is in every query, and an unknown id gets the same 404 as one of another organization.",
  },
  {
    rule: "api4:2023-rate-limit",
    where: STATUSES.map((status) => `* paths * * responses ${status} headers`),
    reason:
      "Cloudflare's counters say only whether a request is within the limit. How many are left is known when none is: then the response is 429, and has RateLimit. The limit itself is in RateLimit-Policy.",
  },
  {
    rule: "api4:2023-string-restricted",
    where: ["livekit components schemas ReportEventRequest **"],
    reason:
      "What these texts are, LiveKit decides. The service refuses no event for them: it ignores what makes no sense.",
  },
  {
    rule: "api4:2023-string-restricted",
    where: [
      "external components schemas ExchangeTokenRequest properties token_exchange properties token",
      "platform components schemas RedeemAuthorizationCodeRequest properties code",
      "platform components schemas AcceptInviteRequest properties token",
    ],
    reason: "Any text is taken. A wrong one is refused in the same way, whatever it looks like.",
  },
  {
    rule: "api4:2023-array-limit",
    where: [
      "external paths */egresses get responses 200 content application/json schema properties egresses",
    ],
    reason:
      "The contract has this list without pages, and a call can have any number of recordings. There are a few.",
  },
  {
    rule: "api4:2023-array-limit",
    where: [
      "external paths */consents get responses 200 content application/json schema properties consents",
    ],
    reason: "A call can have any number of participants, and each of them decides a few times.",
  },
  {
    rule: "api4:2023-array-limit",
    where: [
      "external paths */{call_id}/participants get responses 200 content application/json schema properties participants",
    ],
    reason: "A call can have any number of participants. There are a few.",
  },
  {
    rule: "api8:2023-define-cors-origin",
    where: ["* paths * * responses * headers", "* components headers"],
    reason:
      "The service sends no such header, so no browser shows a response to another site. Its credentials are for servers.",
  },
  {
    rule: "api8:2023-define-error-validation",
    where: [
      "platform paths */{*} get responses",
      "platform paths */{*} delete responses",
      "platform paths /organizations/{organization_id}/calls/{key}/legal_hold delete responses",
    ],
    reason:
      "These requests have neither a query nor a body, so that nothing can be invalid but the path. A path that leads nowhere is 404.",
  },
];
