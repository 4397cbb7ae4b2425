import { useEffect, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { Menu } from '../menu.tsx';
import { Actions } from './actions.tsx';
import { Content } from './content.tsx';
import { Fields } from './fields.tsx';
import { Lists } from './lists.tsx';
import { Overlays } from './overlays.tsx';
import { Status } from './status.tsx';
import { Tokens } from './tokens.tsx';
import './gallery.css';

const PARTS = [
  { id: 'actions', title: 'Actions', Part: Actions },
  { id: 'fields', title: 'Fields', Part: Fields },
  { id: 'overlays', title: 'Menus and dialogs', Part: Overlays },
  { id: 'status', title: 'States and people', Part: Status },
  { id: 'content', title: 'Content', Part: Content },
  { id: 'lists', title: 'A grid', Part: Lists },
];

/** How the page may look: what <html> says of it. */
const MODES = {
  'As the system': {},
  Light: { theme: 'light' },
  Dark: { theme: 'dark' },
  'High contrast': { contrast: 'more' },
  'High contrast, light': { theme: 'light', contrast: 'more' },
  'High contrast, dark': { theme: 'dark', contrast: 'more' },
} as const satisfies Readonly<Record<string, Look>>;
type Mode = keyof typeof MODES;

interface Look {
  readonly theme?: string | undefined;
  readonly contrast?: string | undefined;
}

function wear(look: Look): void {
  const { dataset } = document.documentElement;
  for (const name of ['theme', 'contrast'] as const) {
    const value = look[name];
    if (value === undefined) delete dataset[name];
    else dataset[name] = value;
  }
}

/** Every component in its states: the page on which they are looked at and checked. It is for those who build pages. */
export function Gallery() {
  const [mode, setMode] = useState<Mode>('As the system');
  useEffect(() => {
    const { theme, contrast } = document.documentElement.dataset;
    return () => wear({ theme, contrast });
  }, []);
  const choose = (chosen: Mode): void => {
    // Before the samples read their colours.
    wear(MODES[chosen]);
    setMode(chosen);
  };
  return (
    <div class="gallery">
      <header class="gallery-head">
        <h1>Components</h1>
        <Menu
          label="Theme"
          align="end"
          items={(Object.keys(MODES) as Mode[]).map((each) => ({
            label: each,
            isChecked: each === mode,
            onSelect: () => choose(each),
          }))}
          trigger={(props) => (
            <Button icon="sun" {...props}>
              {mode}
            </Button>
          )}
        />
      </header>
      <section aria-labelledby="tokens" class="gallery-part">
        <h2 id="tokens">Tokens</h2>
        <Tokens mode={mode} />
      </section>
      {PARTS.map(({ id, title, Part }) => (
        <section key={id} aria-labelledby={id} class="gallery-part">
          <h2 id={id}>{title}</h2>
          <Part />
        </section>
      ))}
    </div>
  );
}
