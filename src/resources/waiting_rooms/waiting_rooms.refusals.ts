import { notFound, unprocessable } from "../../http/errors.ts";

export const waitingRoomNotFound = () => notFound("Waiting room");

/** The fault of a `slug` in a body. */
export const SLUG_IS_GENERATED = "cannot be set; it is made from the name";

export const themeNotOffered = (themes: readonly string[]) =>
  unprocessable(`waiting_room.theme: must be one of ${themes.join(", ")}`);

export const personalRoomStays = () => unprocessable("A personal room cannot be retired");

export const waitingRoomInUse = () =>
  unprocessable("The waiting room is in use: a participant is present or a call is going on");
