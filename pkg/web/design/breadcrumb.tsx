import { IconButton } from './icon-button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { NARROW, useMedia } from './media.ts';
import { Menu, type MenuItems } from './menu.tsx';
import './breadcrumb.css';

export interface Crumb {
  readonly id: string;
  readonly label: string;
  readonly href: string;
  readonly icon?: IconName | undefined;
}

interface Props {
  readonly label: string;
  /** From the top to where one is. */
  readonly crumbs: readonly Crumb[];
  /** Names the button that shows the parts for which there is no space. */
  readonly moreLabel: string;
  /** Goes somewhere without loading the page anew. */
  readonly onGo: (crumb: Crumb) => void;
  /** What can be done with where one is; its name is then the button of a menu. */
  readonly menu?: { readonly label: string; readonly items: MenuItems } | undefined;
  /** Returns attributes for the link of a part, such as those that let somebody drop things on it. */
  readonly linkProps?: ((crumb: Crumb) => object) | undefined;
}

const SHOWN = 4;
const SHOWN_NARROW = 2;

/** Where one is, and the way up. Parts in the middle go into a menu when there are many. */
export function Breadcrumb({ label, crumbs, moreLabel, onGo, menu, linkProps }: Props) {
  const max = useMedia(NARROW) ? SHOWN_NARROW : SHOWN;
  const isCut = crumbs.length > max;
  const first = isCut && max > SHOWN_NARROW ? crumbs.slice(0, 1) : [];
  const last = isCut ? crumbs.slice(first.length - max) : crumbs;
  const cut = crumbs.slice(first.length, crumbs.length - last.length);
  const here = crumbs.at(-1);
  const part = (crumb: Crumb) =>
    crumb === here ? (
      <li key={crumb.id} class="c-crumb">
        {menu ? (
          <Menu
            label={menu.label}
            items={menu.items}
            trigger={(props) => (
              <button type="button" class="c-crumb-here" aria-current="page" {...props}>
                {crumb.icon && <Icon name={crumb.icon} />}
                <span class="c-crumb-text">{crumb.label}</span>
                <Icon name="chevron-down" size="s" />
              </button>
            )}
          />
        ) : (
          <span class="c-crumb-here" aria-current="page">
            {crumb.icon && <Icon name={crumb.icon} />}
            <span class="c-crumb-text">{crumb.label}</span>
          </span>
        )}
      </li>
    ) : (
      <Part key={crumb.id} crumb={crumb} onGo={onGo} linkProps={linkProps} />
    );
  return (
    <nav aria-label={label} class="c-breadcrumb">
      <ol role="list">
        {first.map(part)}
        {cut.length > 0 && (
          <li class="c-crumb">
            <Menu
              label={moreLabel}
              items={cut.map((crumb) => ({ label: crumb.label, icon: crumb.icon ?? 'folder', onSelect: () => onGo(crumb) }))}
              trigger={(props) => <IconButton icon="more" label={moreLabel} {...props} />}
            />
            <Icon name="chevron-right" size="s" />
          </li>
        )}
        {last.map(part)}
      </ol>
    </nav>
  );
}

function Part({ crumb, onGo, linkProps }: { crumb: Crumb } & Pick<Props, 'onGo' | 'linkProps'>) {
  const follow = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // another tab
    event.preventDefault();
    onGo(crumb);
  };
  return (
    <li class="c-crumb">
      <a href={crumb.href} class="c-crumb-link" onClick={follow} {...linkProps?.(crumb)}>
        {crumb.icon && <Icon name={crumb.icon} />}
        <span class="c-crumb-text">{crumb.label}</span>
      </a>
      <Icon name="chevron-right" size="s" />
    </li>
  );
}
