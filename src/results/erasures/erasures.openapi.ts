import { ERASED_PORTION } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { erasureSchema } from "./erasures.responses.ts";

const erased = exampleOf(erasureSchema);

export const erasuresReference: Reference = {
  tag: "Erasure",
  description:
    "Erases what names a person, on the person's request, as retention does after some time. The person is found by the `external_reference` that participants and planned visits have.",
  external: {
    "DELETE /participants": {
      operationId: "eraseParticipations",
      summary: "Erase a person's data",
      description:
        `Erases the names, references and keys of all participations of the people who have or had this reference, and the references of their calls. A participation is a person on a call, or in a waiting room that led to no call. Planned visits also lose the person's name and reference, and their own reference, because it may identify the person. One request erases at most ${ERASED_PORTION} participations and changes at most ${ERASED_PORTION} planned visits: repeat it until \`remaining_count\` is 0.\n\n` +
        "Late reports bring nothing back. Calls under legal hold, people who are waiting, and calls that have not ended are left alone: repeat the request later. Consents, metrics and audit logs stay. The access log gets an entry for each participation and each planned visit.",
      status: 200,
      parameters: {
        external_reference: {
          description:
            "The text by which your system knows the person, such as a patient number. It is compared exactly.",
          example: story.RITAS_REFERENCE,
        },
        texts: {
          description:
            "`true` also deletes the transcripts, SOAP notes and recordings of the calls, for everybody on them; later reports of a transcript or a SOAP note of these calls are refused. Send it with the first request: afterwards, nothing shows whose calls they were. The files of recordings are deleted within minutes.",
          example: false,
        },
      },
      response: {
        schema: erasureSchema,
        examples: {
          "Everything is erased": erased,
          "More requests are needed": { ...erased, erased_count: ERASED_PORTION, remaining_count: 120 },
          "A legal hold keeps a call, and the person is waiting": {
            ...erased,
            held_count: 1,
            ongoing_count: 1,
          },
          "Nobody has the reference": { ...erased, erased_count: 0 },
        },
      },
    },
  },
};
