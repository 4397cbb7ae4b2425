/** The sizes of a picture, where 1 is a point of the picture for a point of the screen. */
const STEPS = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8] as const;
const LEAST = STEPS[0];
const MOST = 8;

/** Returns the next size above (`by` 1) or below (−1) what is shown now. */
export function nextZoom(now: number, by: 1 | -1): number {
  // What was fitted is never exactly a step.
  const near = 0.02;
  return by === 1
    ? (STEPS.find((step) => step > now * (1 + near)) ?? MOST)
    : (STEPS.findLast((step) => step < now * (1 - near)) ?? LEAST);
}
