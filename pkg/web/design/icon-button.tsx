import type { ButtonHTMLAttributes } from 'preact';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';
import './icon-button.css';

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'type' | 'class' | 'label' | 'title' | 'size'> {
  readonly icon: IconName;
  /** What it does; shown when pointed at, and read aloud. */
  readonly label: string;
  /** For a button that stays down. Undefined: it does not. */
  readonly isPressed?: boolean | undefined;
  readonly size?: 's' | 'm' | undefined;
  readonly class?: string | undefined;
}

/** A square button with an icon alone. Use it where the icon is known to all: close, more, search. */
export const IconButton = ({ icon, label, isPressed, size = 'm', ...rest }: Props) => (
  <button
    {...rest}
    type="button"
    class={classes('c-icon-button', size === 's' && 'c-icon-button-small', rest.class)}
    title={label}
    aria-label={label}
    {...(isPressed === undefined ? {} : { 'aria-pressed': isPressed })}
  >
    <Icon name={icon} size={size === 's' ? 's' : 'm'} />
  </button>
);
