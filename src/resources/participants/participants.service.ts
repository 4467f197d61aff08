import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import { waitingRoomNotFound } from "../waiting_rooms/waiting_rooms.refusals.ts";
import { reportedRoomOfAnySlug } from "../waiting_rooms/waiting_rooms.sql.ts";
import { namedKeys } from "./participants.erasure.ts";
import { mergeParticipant, type ParticipantReport } from "./participants.merge.ts";
import type { Participant } from "./participants.schemas.ts";
import { memberOfRoom, participantsOfRoom, participantWrites } from "./participants.sql.ts";

/** Records what a report says of somebody in a waiting room (see participants.merge.ts). The key is the reporter's own. */
export async function reportParticipant(
  { db, now, settings }: Context,
  slug: string,
  key: string,
  report: ParticipantReport,
): Promise<Participant> {
  const named = await namedKeys(settings, [key]);
  return decideAndWrite(
    db,
    [
      reportedRoomOfAnySlug({ slug }),
      participantsOfRoom({ slug, ...named.values }),
      memberOfRoom({ slug, user_id: report.user_id ?? null }),
    ],
    ([room], found, members) => {
      if (!room) throw waitingRoomNotFound();
      const [participant] = named.asReported(found);
      const known = { room, participant, isMember: members.length > 0 };
      const next = mergeParticipant(known, key, report, now);
      return upsertIfChanged(participantWrites, next.id === undefined ? undefined : participant, next);
    },
  );
}
