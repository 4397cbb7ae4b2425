import { classes } from './classes.ts';
import './progress.css';

interface Props {
  /** What progresses, read aloud. Left out where words beside it say the same: it is then decoration. */
  readonly label?: string | undefined;
  /** Undefined: it runs, and nobody knows how far. */
  readonly value?: number | undefined;
  readonly max?: number | undefined;
  /** The value in words, where a percentage says too little: "3 of 12 files". */
  readonly valueText?: string | undefined;
  readonly tone?: 'accent' | 'success' | 'danger' | undefined;
}

/** How far something is. The browser's own element, so that a screen reader may follow it. */
export const Progress = ({ label, value, max = 1, valueText, tone = 'accent' }: Props) => (
  <progress
    class={classes('c-progress', tone !== 'accent' && `c-progress-${tone}`)}
    {...(label === undefined ? { 'aria-hidden': 'true' as const } : { 'aria-label': label })}
    max={max}
    {...(value === undefined ? {} : { value })}
    {...(valueText === undefined ? {} : { 'aria-valuetext': valueText })}
  />
);

/** Something loads in this place. It shows after a moment, so that quick replies do not flicker. */
export const Spinner = ({ label }: { readonly label: string }) => (
  <p class="c-spinner" role="status">
    <span class="c-hidden">{label}</span>
  </p>
);
