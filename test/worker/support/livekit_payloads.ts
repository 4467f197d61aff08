/**
 * Payloads that LiveKit servers really sent, as users quoted them in livekit/egress#837, #862 and #809. Ids, names and paths
 * are replaced, and some fields that the service does not read are left out.
 */

/** livekit/egress#837: the recording of a whole room names its file even in `egress_started`. */
export const compositeStarted = (name: string, sid: string, egress_id: string) =>
  JSON.stringify({
    id: "EV_8oTjKXHjCqyD",
    event: "egress_started",
    createdAt: "1736317932",
    egressInfo: {
      egressId: egress_id,
      roomId: sid,
      roomName: name,
      roomComposite: {
        roomName: name,
        audioOnly: true,
        file: { filepath: "records/{room_name}/{time}/audio" },
        fileOutputs: [{ filepath: "records/{room_name}/{time}/audio" }],
      },
      file: { filename: "records/3d0e0a0b/2025-01-08/audio.ogg" },
      fileResults: [{ filename: "records/3d0e0a0b/2025-01-08/audio.ogg" }],
    },
  });

/** livekit/egress#862: an egress that is starting has no status, because that is the default. */
export const startedWithoutStatus = (name: string, sid: string, egress_id: string) =>
  JSON.stringify({
    event: "egress_started",
    id: "EV_wNaSGtBdpsMJ",
    createdAt: "1739900130",
    egressInfo: { egressId: egress_id, roomId: sid, roomName: name },
  });

/** livekit/egress#809: a track whose file has a negative duration and no end, and a room without a sid. */
export const endedWithoutSid = (name: string, egress_id: string) =>
  JSON.stringify({
    event: "egress_ended",
    id: "EV_Xy7TgPp2fQmA",
    createdAt: "1731668993",
    egressInfo: {
      status: "EGRESS_COMPLETE",
      endedAt: "1731668993605577585",
      fileResults: [
        {
          duration: "-1731660518186023947",
          startedAt: "1731660518186023947",
          size: "61941096",
          location: "https://storage.example/4aa5307b.webm",
          filename: "4aa5307b.webm",
        },
      ],
      track: { roomName: name, trackId: "TR_VSigWNEGdB4pmd", file: { filepath: "4aa5307b.mp4" } },
      egressId: egress_id,
      roomName: name,
      details: "end reason: source closed",
      file: { duration: "-1731660518186023947", filename: "4aa5307b.webm" },
    },
  });
