import { classes } from './classes.ts';
import { hueOf, initialsOf } from './initials.ts';
import './avatar.css';

interface Props {
  readonly name: string;
  readonly size?: 's' | 'm' | 'l' | undefined;
  /** Where no text beside it says the name. */
  readonly isNamed?: boolean | undefined;
}

/** A person as a disc with initials, always in the same colour. */
export const Avatar = ({ name, size = 'm', isNamed = false }: Props) => (
  <span
    class={classes('c-avatar', `c-avatar-${size}`, `c-hue-${hueOf(name)}`)}
    title={name}
    {...(isNamed ? { role: 'img', 'aria-label': name } : { 'aria-hidden': 'true' })}
  >
    {initialsOf(name)}
  </span>
);
