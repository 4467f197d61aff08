import { CONSENT_USAGE, consentOptions, requireArguments } from "./command.ts";

export const USAGE = `
Usage: npm run demo -- [URL] [--verbose] | --url URL --organization ID

Without --organization, walks through the product on a running local server, in a new organization.

  URL                   the running server; http://localhost:8787 by default
  --verbose             shows each request and response

With --organization, plays visits in an organization of a deployed service, so that its people can try out what they have built:
calls with transcripts, SOAP notes and a recording. It asks before it writes. What it makes stays, and has an
external_reference that begins with demo-. Set the environment variable PLATFORM_API_TOKEN to the service's token.

  --url URL             the address of the service
  --organization ID     the id of the organization, which needs a provider
${CONSENT_USAGE}`;

export const { values, positionals } = requireArguments(
  USAGE,
  {
    verbose: { type: "boolean" },
    url: { type: "string" },
    organization: { type: "string" },
    ...consentOptions,
  },
  { allowPositionals: true },
);
