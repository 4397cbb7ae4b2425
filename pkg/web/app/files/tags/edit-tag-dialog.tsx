import { useState } from 'preact/hooks';
import type { Tag } from '../../../api/operations.generated.ts';
import { Button } from '../../../design/button.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { Select } from '../../../design/select.tsx';
import { TagDot } from '../../../design/tag-dot.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/files-later.ts';
import { problemText } from '../../problem-text.ts';
import { useClient } from '../../services.ts';
import { useSubmit } from '../../use-submit.ts';
import { TAG_COLOURS, type TagColour } from './tag-colours.ts';

interface Props {
  readonly tag: Tag;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Changes the name and the colour of a tag. */
export function EditTagDialog({ tag, onDone, onClose }: Props) {
  const client = useClient();
  const [name, setName] = useState(tag.name);
  const [colour, setColour] = useState(tag.color ?? '');
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const body = { name: name.trim(), color: colour === '' ? null : colour };
    await client.patch('/tags/{id}', { path: { id: tag.id }, body, idempotencyKey });
    onDone();
  });
  const offered = Object.entries(TAG_COLOURS) as [TagColour, string][];
  // A program may have given it any other.
  const isOther = tag.color !== null && !offered.some(([, value]) => value === tag.color);
  return (
    <Dialog
      title={t('changeTag', { name: tag.name })}
      closeLabel={t('close')}
      size="s"
      isHeld={isBusy}
      onClose={onClose}
      onSubmit={() => name.trim() !== '' && submit()}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={name.trim() === ''}>
            {t('save')}
          </Button>
        </>
      }
    >
      <TextField
        label={t('tagName')}
        value={name}
        onValue={setName}
        error={problem && (problem.ofField('name') ?? problem.inWords(problemText(problem)))}
        autofocus
        autocomplete="off"
        maxLength={100}
      />
      <Select
        label={t('tagColour')}
        value={colour}
        onValue={setColour}
        options={[
          { value: '', label: t('colour.none') },
          ...offered.map(([key, value]) => ({ value, label: t(`colour.${key}`) })),
          ...(isOther && tag.color !== null ? [{ value: tag.color, label: t('colour.other', { colour: tag.color }) }] : []),
        ]}
      />
      <p class="files-quiet">
        {colour !== '' && <TagDot colour={colour} />}
        {name}
      </p>
    </Dialog>
  );
}
