/** Two roles of tokens.css that meet, and the contrast that they need (WCAG 2.2, 1.4.3, 1.4.11). */
export interface Pair {
  readonly front: string;
  readonly ground: string;
  readonly least: number;
  /** What they need where somebody wants more contrast (1.4.6). */
  readonly leastOfMore: number;
}

/** What lies under texts. */
export const SURFACES = [
  'page',
  'surface',
  'surface-raised',
  'surface-sunken',
  'surface-hover',
  'surface-pressed',
  'accent-soft',
] as const;

/** Texts that stand on any of them. */
export const TEXTS = ['ink', 'ink-quiet', 'accent', 'accent-hover', 'danger'] as const;

/** Grounds that have a text of their own. */
export const GROUNDS: readonly (readonly [front: string, ground: string])[] = [
  ['on-accent', 'accent'],
  ['on-accent', 'accent-hover'],
  ['on-accent', 'accent-pressed'],
  ['on-accent-soft', 'accent-soft'],
  ['on-accent-soft', 'accent-soft-hover'],
  ['on-danger', 'danger'],
  ['on-danger', 'danger-hover'],
  ['on-danger-soft', 'danger-soft'],
  ['on-warning-soft', 'warning-soft'],
  ['on-success-soft', 'success-soft'],
  ['on-info-soft', 'info-soft'],
  ['ink', 'mark'],
];

/** Where lines, rings and bars lie. */
export const LINED = ['page', 'surface', 'surface-raised', 'surface-sunken'] as const;
/** Lines that bound what can be used, and what a drawing says. */
export const LINES = ['line-control', 'focus', 'accent', 'danger', 'success'] as const;
/** Lines that only separate, or go around a text that says the same. */
export const SEPARATORS = ['line', 'line-button'] as const;

const TEXT = { least: 4.5, leastOfMore: 7 };
const LINE = { least: 3, leastOfMore: 7 };
const SEPARATOR = { least: 1, leastOfMore: 7 };

export const PAIRS: readonly Pair[] = [
  ...TEXTS.flatMap((front) => SURFACES.map((ground) => ({ front, ground, ...TEXT }))),
  ...GROUNDS.map(([front, ground]) => ({ front, ground, ...TEXT })),
  ...LINES.flatMap((front) => LINED.map((ground) => ({ front, ground, ...LINE }))),
  ...SEPARATORS.flatMap((front) => LINED.map((ground) => ({ front, ground, ...SEPARATOR }))),
];
