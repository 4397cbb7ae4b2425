const STEPS = [1, 2, 2.5, 5, 10];

/** Returns round marks for an axis from 0 to at least `max`, about `wanted` of them. */
export function ticks(max: number, wanted = 4): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((each) => each * power >= rough) ?? 10) * power;
  const count = Math.ceil(max / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** Returns which of `count` labels to show so that each has at least `width` of `total`; the last one is always among them. */
export function shownLabels(count: number, total: number, width: number): ReadonlySet<number> {
  const every = Math.max(1, Math.ceil((count * width) / Math.max(total, 1)));
  return new Set(Array.from({ length: count }, (_, index) => index).filter((index) => (count - 1 - index) % every === 0));
}
