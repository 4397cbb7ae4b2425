import type { Tag } from '../../../api/operations.generated.ts';
import { Select } from '../../../design/select.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/schedules.ts';
import { type BatchDraft, OPERATIONS, TYPES } from './batch.ts';
import { FolderField } from './folder-field.tsx';

interface Props {
  readonly draft: BatchDraft;
  readonly onDraft: (draft: BatchDraft) => void;
  /** One's own tags; undefined until they are loaded. */
  readonly tags: readonly Tag[] | undefined;
  /** Says what is missing. */
  readonly isTried: boolean;
}

/** Which files a schedule changes, and how. */
export function BatchFields({ draft, onDraft, tags, isTried }: Props) {
  const { operation, folder, name, type, having, destination, tag } = draft;
  const change = (changes: Partial<BatchDraft>): void => onDraft({ ...draft, ...changes });
  const known = (tags ?? []).map(({ id, name: label }) => ({ value: id, label }));
  // Whoever made the schedule may have other tags.
  const tagsWith = (id: string) =>
    id === '' || known.some(({ value }) => value === id) ? known : [...known, { value: id, label: id }];
  return (
    <>
      <FolderField
        label={t('batchFolder')}
        folder={folder}
        onFolder={(chosen) => change({ folder: chosen })}
        error={isTried && !folder ? t('folderMissing') : undefined}
      />
      <div class="schedules-times">
        <TextField
          label={t('batchName')}
          value={name}
          onValue={(value) => change({ name: value })}
          autocomplete="off"
          maxLength={255}
        />
        <Select
          label={t('batchType')}
          value={type}
          onValue={(value) => change({ type: value })}
          options={TYPES.map((value) => ({ value, label: t(`type.${value}`) }))}
        />
        <Select
          label={t('batchTag')}
          value={having}
          onValue={(value) => change({ having: value })}
          options={[{ value: '', label: t('batchTagAny') }, ...tagsWith(having)]}
        />
        <Select
          label={t('batchDo')}
          value={operation}
          onValue={(value) => change({ operation: value })}
          options={OPERATIONS.map((value) => ({ value, label: t(`batch.${value}`) }))}
        />
        {(operation === 'tag' || operation === 'untag') && (
          <Select
            label={t('tag')}
            value={tag}
            onValue={(value) => change({ tag: value })}
            options={[{ value: '', label: tags?.length === 0 ? t('tagNone') : t('tagChoose') }, ...tagsWith(tag)]}
            error={isTried && tag === '' ? t('tagMissing') : undefined}
          />
        )}
      </div>
      {operation === 'move' && (
        <FolderField
          label={t('destination')}
          folder={destination}
          onFolder={(chosen) => change({ destination: chosen })}
          error={isTried && !destination ? t('destinationMissing') : undefined}
        />
      )}
      <p class="admin-quiet">{t('batchActs')}</p>
    </>
  );
}
