/** The results of the calls that development tools play. */

export const SOAP_NOTE = {
  text: "A demo.\nSubjective: feels better.\nObjective: 128/82 at home.\nAssessment: improving.\nPlan: as before.",
  is_final: true,
};

/** @param speakers the keys of the two participants; the first one asks */
export const transcriptOf = (speakers: [string, string]) => ({
  summary: "A demo: a follow-up on blood pressure, which has come down. The medication stays as it is.",
  is_final: true,
  lines: speakers.map((participant_key, n) => ({
    participant_key,
    text: n === 0 ? "Good morning, how are you?" : "Better, thank you.",
    start_time: 2 * n,
    end_time: 2 * n + 1.5,
  })),
});

const SAMPLE_RATE = 8000;
const NOTES = [523.25, 659.25, 783.99];
export const RECORDING_SECONDS = NOTES.length;

/** A small recording that any player can play: three notes of a second each, as WAV (RIFF, PCM, 16 bits, mono). */
export function demoRecording(): Promise<ArrayBuffer> {
  const samples = new Int16Array(NOTES.length * SAMPLE_RATE).map((_, n) => {
    const second = n / SAMPLE_RATE;
    const note = NOTES[Math.floor(second)] ?? 0;
    return 12_000 * Math.exp(-3 * (second % 1)) * Math.sin(2 * Math.PI * note * second);
  });
  const { byteLength } = samples;
  const pcm = Uint32Array.of(16, 0x0001_0001, SAMPLE_RATE, 2 * SAMPLE_RATE, 0x0010_0002);
  const word = (value: number) => Uint32Array.of(value);
  const head = ["RIFF", word(36 + byteLength), "WAVEfmt ", pcm];
  return new Blob([...head, "data", word(byteLength), samples]).arrayBuffer();
}
