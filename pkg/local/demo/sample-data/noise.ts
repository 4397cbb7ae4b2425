/** Numbers that look random and are the same in every run: sample pictures do not change from one `make up` to the next. */

/** Returns a number in [0, 1) for a point of the integer grid. */
export function hash(x: number, y: number, seed: number): number {
  let h = Math.imul(x, 374_761_393) ^ Math.imul(y, 668_265_263) ^ Math.imul(seed, 2_147_483_647);
  h = Math.imul(h ^ (h >>> 13), 1_274_126_177);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

const smooth = (t: number): number => t * t * (3 - 2 * t);

function valueNoise(x: number, y: number, seed: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [across, down] = [smooth(x - left), smooth(y - top)];
  const upper = hash(left, top, seed) * (1 - across) + hash(left + 1, top, seed) * across;
  const lower = hash(left, top + 1, seed) * (1 - across) + hash(left + 1, top + 1, seed) * across;
  return upper * (1 - down) + lower * down;
}

/** Returns a sum of octaves in [0, 1): coarse shapes with ever finer ones on them. */
export function fractalNoise(x: number, y: number, seed: number, octaves = 5): number {
  let [sum, weight, total, scale] = [0, 0.5, 0, 1];
  for (let octave = 0; octave < octaves; octave += 1) {
    sum += valueNoise(x * scale, y * scale, seed + octave) * weight;
    total += weight;
    weight /= 2;
    scale *= 2.03;
  }
  return sum / total;
}
