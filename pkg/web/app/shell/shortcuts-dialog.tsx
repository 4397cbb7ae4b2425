import { Dialog } from '../../design/dialog.tsx';
import { t } from '../../text/shell.ts';
import { useObserved } from '../use-observed.ts';
import { shortcuts } from './shortcuts.ts';
import './shortcuts-dialog.css';

/** The shortcuts of the shell and of the shown route. */
export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  const groups = useObserved(shortcuts.groups);
  return (
    <Dialog title={t('shortcuts.title')} closeLabel={t('close')} isText onClose={onClose}>
      {groups.toReversed().map((group) => (
        <section key={group.title} class="shortcuts">
          <h3>{group.title}</h3>
          <dl>
            {group.shortcuts.map(({ keys, label }) => (
              <div key={keys}>
                <dt>{label}</dt>
                <dd>
                  {shortcuts.shown(keys).map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
