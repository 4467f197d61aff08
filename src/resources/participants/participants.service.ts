import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import { waitingRoomNotFound } from "../waiting_rooms/waiting_rooms.refusals.ts";
import { reportedRoomOfAnySlug } from "../waiting_rooms/waiting_rooms.sql.ts";
import { mergeParticipant, type ParticipantReport } from "./participants.merge.ts";
import type { Participant } from "./participants.schemas.ts";
import { memberOfRoom, participantOfRoom, participantWrites } from "./participants.sql.ts";

/** Records what a report says of somebody in a waiting room (see participants.merge.ts). The key is the reporter's own. */
export async function reportParticipant(
  { db, now }: Context,
  slug: string,
  key: string,
  report: ParticipantReport,
): Promise<Participant> {
  return decideAndWrite(
    db,
    [
      reportedRoomOfAnySlug({ slug }),
      participantOfRoom({ slug, key }),
      memberOfRoom({ slug, user_id: report.user_id ?? null }),
    ],
    ([room], [participant], members) => {
      if (!room) throw waitingRoomNotFound();
      const known = { room, participant, isMember: members.length > 0 };
      return upsertIfChanged(participantWrites, participant, mergeParticipant(known, key, report, now));
    },
  );
}
