import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../../design/badge.tsx';
import { useFailures, useLoaded } from '../entry/loaded.ts';
import type { Refusal } from '../entry/messages.ts';
import { Ended, RefusalNote } from '../entry/notes.tsx';
import type { Item, PickerApi, PickerView } from './api.ts';
import { Browse } from './browse.tsx';
import { type Choice, type Choosable, itemOf, toggled, typesOf } from './choices.ts';
import { Chosen } from './chosen.tsx';
import { leave } from './leave.ts';
import { t } from '../../text/lti.ts';

/** The picker: the files that may be chosen, the chosen ones, and the way back with or without them. */
export function Picker({ api }: { api: PickerApi }) {
  const { failed, isOver } = useFailures();
  const { loaded: view, refusal: unavailable, retry } = useLoaded(api.picker, failed);
  const [refusal, setRefusal] = useState<Refusal>();
  const [choices, setChoices] = useState<readonly Choice[]>([]);
  const [isSending, setSending] = useState(false);

  const title = view?.own_only ? t('picker.handIn') : t('picker.title');
  useEffect(() => {
    if (view) document.title = title;
  }, [view, title]);

  if (isOver) return <Ended />;
  if (!view)
    return (
      <main>{unavailable ? <RefusalNote refusal={unavailable} onRetry={retry} /> : <p role="status">{t('loading')}</p>}</main>
    );

  const toggle = (file: Choosable): void => {
    const [type] = typesOf(file, view);
    if (type) setChoices((all) => toggled(all, { file, type, points: '' }, view.multiple));
  };
  const addUploaded = (files: readonly Choosable[]): void =>
    setChoices((all) => {
      const fresh = files.flatMap((file) => {
        const [type] = typesOf(file, view);
        return type && !all.some((one) => one.file.id === file.id) ? [{ file, type, points: '' }] : [];
      });
      return view.multiple ? [...all, ...fresh] : [...all, ...fresh].slice(-1);
    });
  const answer = (items: readonly Item[]): void => {
    setSending(true);
    setRefusal(undefined);
    api.answer(items).then(leave, (error: unknown) => {
      setRefusal(failed(error));
      setSending(false);
    });
  };

  return (
    <main class="picker">
      <header>
        <h1>{title}</h1>
        <p>{introduction(view)}</p>
      </header>
      {view.types.length === 0 ? (
        <Notice tone="danger">{t('picker.nothingTaken')}</Notice>
      ) : (
        <Browse api={api} view={view} choices={choices} onToggle={toggle} onUploaded={addUploaded} failed={failed} />
      )}
      <Chosen
        view={view}
        choices={choices}
        isSending={isSending}
        refusal={refusal}
        onChange={(changed) => setChoices((all) => all.map((one) => (one.file.id === changed.file.id ? changed : one)))}
        onRemove={({ file }) => setChoices((all) => all.filter((one) => one.file.id !== file.id))}
        onAdd={() => answer(choices.map((choice) => itemOf(choice, view)))}
        onCancel={() => answer([])}
      />
    </main>
  );
}

function introduction({ own_only, multiple, context }: PickerView): string {
  const what = own_only ? 'picker.own' : multiple ? 'picker.several' : 'picker.single';
  return context ? t(`${what}For`, { course: context.title }) : t(what);
}
