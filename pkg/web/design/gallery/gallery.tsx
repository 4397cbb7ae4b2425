import { useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { Menu } from '../menu.tsx';
import { Actions } from './actions.tsx';
import { Content } from './content.tsx';
import { Fields } from './fields.tsx';
import { Lists } from './lists.tsx';
import { Overlays } from './overlays.tsx';
import { Status } from './status.tsx';
import './gallery.css';

const PARTS = [
  { id: 'actions', title: 'Actions', Part: Actions },
  { id: 'fields', title: 'Fields', Part: Fields },
  { id: 'overlays', title: 'Menus and dialogs', Part: Overlays },
  { id: 'status', title: 'States and people', Part: Status },
  { id: 'content', title: 'Content', Part: Content },
  { id: 'lists', title: 'A grid', Part: Lists },
];

const THEMES = ['system', 'light', 'dark'] as const;

/** Every component in its states: the page on which they are looked at and checked. It is for those who build pages. */
export function Gallery() {
  const [theme, setTheme] = useState<(typeof THEMES)[number]>('system');
  const wear = (chosen: (typeof THEMES)[number]): void => {
    setTheme(chosen);
    if (chosen === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
  };
  return (
    <div class="gallery">
      <header class="gallery-head">
        <h1>Components</h1>
        <Menu
          label="Theme"
          align="end"
          items={THEMES.map((each) => ({ label: each, isChecked: each === theme, onSelect: () => wear(each) }))}
          trigger={(props) => (
            <Button icon="sun" {...props}>
              Theme
            </Button>
          )}
        />
      </header>
      {PARTS.map(({ id, title, Part }) => (
        <section key={id} aria-labelledby={id} class="gallery-part">
          <h2 id={id}>{title}</h2>
          <Part />
        </section>
      ))}
    </div>
  );
}
