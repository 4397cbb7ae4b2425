import { useEffect, useState } from 'preact/hooks';
import type { Tag } from '../../../api/operations.generated.ts';
import { type FieldRefusal, problemOf } from '../../../api/problem.ts';
import { Button } from '../../../design/button.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { IconButton } from '../../../design/icon-button.tsx';
import { Spinner } from '../../../design/progress.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/files.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { problemText } from '../../problem-text.ts';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';

interface Props {
  readonly onChoose: (tag: Pick<Tag, 'id' | 'name'>) => void;
  /** The button's text; without it the button is an icon. */
  readonly label?: string | undefined;
}

/** A button that asks for a tag: one of one's own, or a new one. */
export function TagMenu({ onChoose, label }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {label === undefined ? (
        <IconButton icon="tag" label={t('addTag')} onClick={() => setOpen(true)} />
      ) : (
        <Button size="s" icon="add" onClick={() => setOpen(true)}>
          {label}
        </Button>
      )}
      {isOpen && (
        <TagDialog
          onClose={() => setOpen(false)}
          onChoose={(tag) => {
            setOpen(false);
            onChoose(tag);
          }}
        />
      )}
    </>
  );
}

function TagDialog({ onChoose, onClose }: Omit<Props, 'label'> & { readonly onClose: () => void }) {
  const client = useClient();
  const [name, setName] = useState('');
  const [error, setError] = useState<FieldRefusal>();
  const { value, problem, reload } = useLoaded(
    (signal) => client.get('/tags', { query: { sort: 'name', limit: 200 }, signal }),
    [],
  );
  useEffect(() => setError(undefined), [name]);
  const wanted = name.trim().toLocaleLowerCase();
  const found = value?.data.filter((tag) => tag.name.toLocaleLowerCase().includes(wanted)) ?? [];
  const isNew = wanted !== '' && !found.some((tag) => tag.name.toLocaleLowerCase() === wanted);
  const submit = (): void => {
    const same = found.find((tag) => tag.name.toLocaleLowerCase() === wanted);
    if (same) return onChoose(same);
    if (wanted === '') return;
    client.post('/tags', { body: { name: name.trim() } }).then(onChoose, (failure: unknown) => {
      const refused = problemOf(failure);
      setError(refused.ofField('name') ?? refused.inWords(problemText(refused)));
    });
  };
  return (
    <Dialog
      title={t('addTag')}
      closeLabel={t('close')}
      size="s"
      onClose={onClose}
      onSubmit={submit}
      actions={
        <Button kind="primary" type="submit" disabled={wanted === ''}>
          {isNew ? t('newTag') : t('addTag')}
        </Button>
      }
    >
      <TextField label={t('tagName')} value={name} onValue={setName} error={error} autofocus autocomplete="off" maxLength={50} />
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!value && !problem && <Spinner label={t('loading')} />}
      <div class="files-tags">
        {found.map((tag) => (
          <Button key={tag.id} size="s" icon="tag" onClick={() => onChoose(tag)}>
            {tag.name}
          </Button>
        ))}
      </div>
    </Dialog>
  );
}
