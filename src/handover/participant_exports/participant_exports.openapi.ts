import * as z from "zod";
import { NDJSON } from "../../audit/access_logs/access_logs.schemas.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { exportRunning } from "./participant_exports.schemas.ts";

const firstLine = JSON.stringify({
  type: "export",
  external_reference: story.RITAS_REFERENCE,
  created_at: story.RECORDING_DELETED_AT,
  user_id: story.OLGA.user_id,
});

const lastLine = `{"type":"end","calls":0,"visits":0,"access_logs":0,"sha256":"88dcbbcf4d3b33fa8ee4e5eb0aa8c72ac27bd7bb1c6f3d0fbe3ac45bba3a4ac4"}`;

export const participantExportsReference: Reference = {
  tag: "Exports",
  description:
    "Everything that the organization has about a person, as a file for that person. The person is found by each `external_reference` that they have or had.",
  external: {
    "GET /participants/export": {
      operationId: "exportParticipations",
      summary: "Export a person's data",
      description: `The answer to a request for access or for a copy. Each line is a JSON object with a \`type\`:

- \`export\`, the first line: \`external_reference\`, \`created_at\` and \`user_id\`.
- \`call\`, for each call: \`jws\`, the signed vCon, or \`vcon\` if the service has no key.
- \`visit\`, for each planned visit that names the person: \`visit\`, as lists show it.
- \`access_log\`, for each entry about the person: \`access_log\`, as lists show it, without the entries of this request.
- \`end\`, the last line: the numbers \`calls\`, \`visits\` and \`access_logs\`, and \`sha256\`, the SHA-256 in hex of all lines before it. Without this line, the export is not complete: send the request again.

An unknown person has only the first and the last line. Other people appear with their role only; what they said on a call is kept. Each call also counts as a request.`,
      parameters: {
        external_reference: {
          description:
            "The text by which your system knows the person, such as a patient number. It is compared exactly.",
          example: story.RITAS_REFERENCE,
        },
      },
      alternatives: {
        [NDJSON]: {
          schema: z
            .string()
            .max(Number.MAX_SAFE_INTEGER)
            .regex(/^(\{.*\}\n)*$/)
            .describe("One JSON object per line."),
          example: `${firstLine}\n${lastLine}\n`,
        },
      },
      errors: [exportRunning()],
    },
  },
};
