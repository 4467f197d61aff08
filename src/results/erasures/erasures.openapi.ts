import { ERASED_PORTION } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { erasureSchema } from "./erasures.responses.ts";

export const erasuresReference: Reference = {
  tag: "Erasure",
  description:
    "Erases what names a person, on the person's request, as retention does after some time. The person is found by the `external_reference` that participants and planned visits have.",
  external: {
    "DELETE /participants": {
      operationId: "eraseParticipations",
      summary: "Erase a person's data",
      description:
        `Erases the names, references and keys of all participations of the people who have or had this reference, and the references of their calls. A participation is a person on a call, or in a waiting room that led to no call. Planned visits also lose the person's name and reference, and their own reference, because it may identify the person. One request erases at most ${ERASED_PORTION} people's records, each a planned participant with all their calls, or a participant with a key of their own: repeat it until \`remaining_count\` is 0.\n\n` +
        "Late reports bring nothing back. A record is left as it is while the person is waiting or on a call, or while a call of the record or of its visit is under legal hold: repeat the request later. Consents, metrics and audit logs stay. The access log gets an entry for each participation and each planned visit, or for a search if nothing was erased.",
      status: 200,
      parameters: {
        external_reference: {
          description:
            "The text by which your system knows the person, such as a patient number. It is compared exactly.",
          example: story.RITAS_REFERENCE,
        },
        texts: {
          description:
            "`true` also deletes the transcripts, SOAP notes and recordings of the calls, for everybody on them; later reports of a transcript or a SOAP note of these calls are refused, and recordings reported later are never listed. Send it with the first request: afterwards, nothing shows whose calls they were. The files of recordings are deleted within minutes.",
          example: false,
        },
      },
      response: { schema: erasureSchema },
    },
  },
};
