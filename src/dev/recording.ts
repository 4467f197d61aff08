const SAMPLE_RATE = 8000;
const SECONDS = 3;

/** A small recording for any player: a chime of three notes as WAV (RIFF, PCM, 16 bits, mono). */
export function demoRecording(): Uint8Array<ArrayBuffer> {
  const samples = SAMPLE_RATE * SECONDS;
  const wav = new DataView(new ArrayBuffer(44 + samples * 2));
  const text = (offset: number, value: string) => {
    for (const [n, character] of [...value].entries()) wav.setUint8(offset + n, character.charCodeAt(0));
  };
  text(0, "RIFF");
  wav.setUint32(4, 36 + samples * 2, true);
  text(8, "WAVEfmt ");
  wav.setUint32(16, 16, true);
  wav.setUint16(20, 1, true);
  wav.setUint16(22, 1, true);
  wav.setUint32(24, SAMPLE_RATE, true);
  wav.setUint32(28, SAMPLE_RATE * 2, true);
  wav.setUint16(32, 2, true);
  wav.setUint16(34, 16, true);
  text(36, "data");
  wav.setUint32(40, samples * 2, true);
  for (let n = 0; n < samples; n++) {
    const second = n / SAMPLE_RATE;
    const note = [523.25, 659.25, 783.99][Math.floor(second)] ?? 0;
    const fading = Math.exp(-3 * (second % 1));
    wav.setInt16(44 + n * 2, 12_000 * fading * Math.sin(2 * Math.PI * note * second), true);
  }
  return new Uint8Array(wav.buffer);
}
