const [RATE, SECONDS] = [16_000, 12];
/** Hertz: a pentatonic scale, in which no two notes disagree. */
const NOTES = [220, 247.5, 278.4, 330, 371.25, 440, 495, 556.9];
const MELODY = [0, 2, 4, 5, 4, 2, 3, 1, 0, 2, 5, 7, 6, 4, 5, 3, 4, 2, 0, 1, 2, 4, 2, 0];

/** Writes some seconds of soft bells as a WAV file of 8-bit samples. */
export function bells(): Buffer {
  const samples = Buffer.alloc(RATE * SECONDS);
  const step = SECONDS / MELODY.length;
  for (let at = 0; at < samples.length; at += 1) {
    const time = at / RATE;
    const note = Math.floor(time / step);
    let level = 0;
    // The note before still sounds.
    for (const number of [note - 1, note]) {
      const pitch = NOTES[MELODY[number] ?? -1];
      if (pitch === undefined) continue;
      const since = time - number * step;
      const phase = 2 * Math.PI * pitch * since;
      level += (Math.sin(phase) + 0.4 * Math.sin(2.76 * phase)) * Math.exp(-4 * since);
    }
    samples[at] = 128 + Math.round(level * 40);
  }
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(RATE, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
