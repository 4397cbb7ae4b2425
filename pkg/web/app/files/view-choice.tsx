import { Observed } from '../../api/observed.ts';
import { IconButton } from '../../design/icon-button.tsx';
import { t } from '../../text/files.ts';
import { useObserved } from '../use-observed.ts';

export type View = 'list' | 'cards';

const KEY = 'carrel.files.view';

/** Storage may be blocked; then the choice lasts until the page is left. */
function remembered(): View {
  try {
    return localStorage.getItem(KEY) === 'cards' ? 'cards' : 'list';
  } catch {
    return 'list';
  }
}

const view = new Observed<View>(remembered());

function choose(chosen: View): void {
  view.set(chosen);
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // as above
  }
}

export const useView = (): View => useObserved(view);

/** Two buttons: rows, or pictures. */
export function ViewChoice() {
  const shown = useView();
  return (
    <span class="files-views">
      <IconButton icon="list" label={t('listView')} isPressed={shown === 'list'} onClick={() => choose('list')} />
      <IconButton icon="grid" label={t('cardView')} isPressed={shown === 'cards'} onClick={() => choose('cards')} />
    </span>
  );
}
