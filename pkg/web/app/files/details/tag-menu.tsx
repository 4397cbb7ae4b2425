import { useEffect, useState } from 'preact/hooks';
import type { Tag } from '../../../api/operations.generated.ts';
import { type FieldRefusal, problemOf } from '../../../api/problem.ts';
import { Button } from '../../../design/button.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { IconButton } from '../../../design/icon-button.tsx';
import { Spinner } from '../../../design/progress.tsx';
import { TagDot } from '../../../design/tag-dot.tsx';
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
  /** The tag is taken from files, so it is one that some files have. */
  readonly isRemoval?: boolean | undefined;
}

/** A button that asks for a tag: one of one's own, or a new one. */
export function TagMenu({ onChoose, label, isRemoval = false }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {label === undefined ? (
        <IconButton
          icon={isRemoval ? 'tag-off' : 'tag'}
          label={isRemoval ? t('removeSomeTag') : t('addTag')}
          onClick={() => setOpen(true)}
        />
      ) : (
        <Button size="s" icon="add" onClick={() => setOpen(true)}>
          {label}
        </Button>
      )}
      {isOpen && (
        <TagDialog
          isRemoval={isRemoval}
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

function TagDialog({ onChoose, isRemoval = false, onClose }: Omit<Props, 'label'> & { readonly onClose: () => void }) {
  const client = useClient();
  const [name, setName] = useState('');
  const [error, setError] = useState<FieldRefusal>();
  /** Somebody has entered a name before it is known which tags there are. */
  const [isEarly, setEarly] = useState(false);
  const { value, problem, reload } = useLoaded(
    (signal) => client.get('/tags', { query: { sort: 'name', limit: 200 }, signal }),
    [],
  );
  const isUnknown = !value && !problem;
  const enter = (entered: string): void => {
    setName(entered);
    setError(undefined);
    setEarly(false);
  };
  const wanted = name.trim().toLocaleLowerCase();
  const known = value?.data.filter(({ files_count }) => !isRemoval || files_count > 0) ?? [];
  const found = known.filter((tag) => tag.name.toLocaleLowerCase().includes(wanted));
  const same = found.find((tag) => tag.name.toLocaleLowerCase() === wanted);
  const isNew = !isRemoval && wanted !== '' && !same;
  const title = isRemoval ? t('removeSomeTag') : t('addTag');
  const submit = (): void => {
    if (isUnknown) return setEarly(wanted !== '');
    if (same) return onChoose(same);
    if (!isNew) return;
    client.post('/tags', { body: { name: name.trim() } }).then(onChoose, (failure: unknown) => {
      const refused = problemOf(failure);
      setError(refused.ofField('name') ?? refused.inWords(problemText(refused)));
    });
  };
  useEffect(() => {
    if (!isEarly || isUnknown) return;
    setEarly(false);
    submit();
  }, [isEarly, isUnknown]);
  const isPossible = isUnknown ? wanted !== '' : same !== undefined || isNew;
  return (
    <Dialog
      title={title}
      closeLabel={t('close')}
      size="s"
      onClose={onClose}
      onSubmit={submit}
      actions={
        <Button kind="primary" type="submit" disabled={!isPossible} isBusy={isEarly}>
          {isNew && !isUnknown ? t('newTag') : title}
        </Button>
      }
    >
      <TextField label={t('tagName')} value={name} onValue={enter} error={error} autofocus autocomplete="off" maxLength={50} />
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!value && !problem && <Spinner label={t('loading')} />}
      {isRemoval && value && known.length === 0 && <p>{t('noTaggedFiles')}</p>}
      <div class="files-tags">
        {found.map((tag) => (
          <Button key={tag.id} size="s" icon={tag.color === null ? 'tag' : undefined} onClick={() => onChoose(tag)}>
            {tag.color !== null && <TagDot colour={tag.color} />}
            {tag.name}
          </Button>
        ))}
      </div>
    </Dialog>
  );
}
