import { notFound, unprocessable } from "../../http/errors.ts";

export const waitingRoomNotFound = () => notFound("Waiting room");

export const SLUG_IS_GENERATED = "cannot be set; it is generated from the name";

export const themeNotOffered = (themes: readonly string[]) =>
  unprocessable("theme_not_offered", `waiting_room.theme: must be one of ${themes.join(", ")}`);

export const ROOM_STAYS = {
  organization_id: "create a new room for another owner",
  user_id: "create a new room for another owner",
  user: "to rename the owner, use PUT /organization_users/{id} or PUT /organization",
};

export const personalRoomStays = () =>
  unprocessable(
    "personal_room",
    "A personal room cannot be retired: it is when its owner loses the role provider",
  );

export const waitingRoomInUse = () =>
  unprocessable(
    "room_in_use",
    "The waiting room is in use: a participant is present or a call is going on; wait until they have left",
  );
