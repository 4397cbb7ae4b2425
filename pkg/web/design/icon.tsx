import { PATHS } from './icon-paths.ts';
import './icon.css';

export type IconName = keyof typeof PATHS;

interface Props {
  readonly name: IconName;
  /** Says what the icon means where no text beside it does. Without it the icon is decoration. */
  readonly label?: string | undefined;
  readonly size?: 's' | 'm' | 'l';
}

/** A sign of our own set, drawn in the colour of the text around it. */
export const Icon = ({ name, label, size = 'm' }: Props) => (
  <svg
    class={`c-icon c-icon-${size}`}
    viewBox="0 0 24 24"
    {...(label === undefined ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': label })}
  >
    <path d={PATHS[name]} />
  </svg>
);
