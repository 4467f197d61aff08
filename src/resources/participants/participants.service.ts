import type { Context } from "../../context.ts";
import { type Decision, writeDecision } from "../../database/decisions.ts";
import { notFound } from "../../http/errors.ts";
import { reportedRoomOfAnySlug } from "../waiting_rooms/waiting_rooms.sql.ts";
import { mergeParticipant, type ParticipantReport } from "./participants.merge.ts";
import type { Participant } from "./participants.schemas.ts";
import { memberOfRoom, participantByKey, participantOfRoom, writeParticipants } from "./participants.sql.ts";

/** Records what a report says of somebody in a waiting room (see participants.merge.ts). The key is the reporter's own. */
export async function reportParticipant(
  { db, now }: Context,
  slug: string,
  key: string,
  report: ParticipantReport,
): Promise<Participant> {
  return writeDecision(
    db,
    [
      reportedRoomOfAnySlug({ slug }),
      participantOfRoom({ slug, key }),
      memberOfRoom({ slug, user_id: report.user_id ?? null }),
    ],
    ([room], [participant], members): Decision<Participant> => {
      if (!room) throw notFound("Waiting room");
      const next = mergeParticipant({ room, participant, isMember: members.length > 0 }, key, report, now);
      if (next === participant) return { unchanged: participant };
      const { organization_id } = room;
      return {
        writes: [
          writeParticipants({ rows: JSON.stringify([next]), call_key: null }),
          participantByKey({ organization_id, key }),
        ],
      };
    },
  );
}
