import type { ButtonHTMLAttributes } from 'preact';
import { classes } from './classes.ts';
import { Icon, type IconName } from './icon.tsx';
import './button.css';

type Native = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'type' | 'class' | 'size'>;

interface Props extends Native {
  /** `primary` is the one thing that a view is for. `danger` cannot be taken back. Default: `secondary`. */
  readonly kind?: 'primary' | 'secondary' | 'quiet' | 'danger' | undefined;
  readonly size?: 'm' | 's' | undefined;
  /** Stands before the text. */
  readonly icon?: IconName | undefined;
  /** Something runs: the button turns, keeps its width and takes no click. It stays in the order of the keyboard. */
  readonly isBusy?: boolean | undefined;
  readonly type?: 'button' | 'submit' | undefined;
  readonly class?: string | undefined;
}

/** A button with a text. The text says what happens ("Delete 3 files"), not "OK". */
export function Button({
  kind = 'secondary',
  size = 'm',
  icon,
  isBusy = false,
  type = 'button',
  children,
  onClick,
  ...rest
}: Props) {
  return (
    <button
      {...rest}
      type={isBusy ? 'button' : type}
      class={classes('c-button', `c-button-${kind}`, size === 's' && 'c-button-small', isBusy && 'c-button-busy', rest.class)}
      {...(isBusy ? { 'aria-busy': true, 'aria-disabled': true } : { onClick })}
    >
      {icon && <Icon name={icon} size={size === 's' ? 's' : 'm'} />}
      <span class="c-button-text">{children}</span>
    </button>
  );
}

interface LinkProps {
  readonly href: string;
  readonly kind?: Props['kind'];
  readonly icon?: IconName | undefined;
  /** The browser saves what the address answers. */
  readonly isDownload?: boolean | undefined;
  /** Of what is saved; without one the answer's own, or one of the browser. */
  readonly fileName?: string;
  readonly children: Props['children'];
}

/** A link that looks like a button: it leads somewhere. */
export const LinkButton = ({ href, kind = 'secondary', icon, isDownload = false, fileName = '', children }: LinkProps) => (
  <a href={href} class={classes('c-button', `c-button-${kind}`)} {...(isDownload ? { download: fileName } : {})}>
    {icon && <Icon name={icon} />}
    <span class="c-button-text">{children}</span>
  </a>
);
