import { invalidBody, notFound, unprocessable } from "../../http/errors.ts";
import { DEFAULT_SUB_DURATION } from "../../lifetimes.ts";
import { MAX_SUBS } from "../../limits.ts";
import { grouped, HOUR } from "../../units.ts";

export const subNotFound = () => notFound("Waiting room sub");

export const SUB_STAYS = {
  waiting_room_id: "create a sub of the other room, and delete this one",
  sub_waiting_room_slug: "it is the room of the substitute: change user_id",
};

export const NOT_IN_UTC = "must be in UTC: end in Z or +00:00";

export const ENDS_TOO_EARLY = "must be after datetime_start";

export const subEndsTooEarly = () => invalidBody(`waiting_room_sub.datetime_end: ${ENDS_TOO_EARLY}`);

export const ownerSubstitutes = () =>
  unprocessable("owner_substitutes", "waiting_room_sub.user_id: must not be the owner of the room");

export const substituteHasNoRoom = () =>
  unprocessable(
    "not_a_provider",
    "waiting_room_sub.user_id: must be a user of the organization who has a personal waiting room",
  );

export const subsOverlap = (isOfDefaultLength = false) =>
  unprocessable(
    "sub_overlaps",
    "The times overlap another sub of the waiting room" +
      (isOfDefaultLength ? `; without datetime_end, a sub lasts ${DEFAULT_SUB_DURATION / HOUR} hours` : ""),
  );

export const tooManySubs = () =>
  unprocessable(
    "too_many_subs",
    `The waiting room has ${grouped(MAX_SUBS)} subs that are not over yet, which is the most that it can have: delete one first, or wait until one is over`,
  );
