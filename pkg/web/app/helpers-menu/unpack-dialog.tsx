import { useRef, useState } from 'preact/hooks';
import type { KeyOfContent } from '../../api/change-keys.ts';
import type { Job } from '../../api/operations.generated.ts';
import { RadioGroup } from '../../design/checkbox.tsx';
import { Select } from '../../design/select.tsx';
import { t } from '../../text/helpers.ts';
import { useSubmit } from '../use-submit.ts';
import { type Entry, stemLength } from '../files/entry.ts';
import { useClient } from '../services.ts';
import { HelperDialog } from './helper-dialog.tsx';

const TAKEN = ['rename', 'replace', 'skip'] as const;
/** The code page of DOS is what archives without Unicode names mean by default. */
const ENCODINGS = ['cp437', 'windows-1252', 'ibm866', 'windows-1251', 'shift_jis', 'gbk', 'big5', 'euc-kr'] as const;

interface Props {
  readonly entry: Entry;
  readonly onClose: () => void;
  readonly onBegun: (job: Job) => void;
}

/**
 * Unpacks an archive where it is. A new folder is the default: nobody wants a thousand files among their own. It gets a number if
 * its name is taken.
 */
export function UnpackDialog({ entry, onClose, onBegun }: Props) {
  const client = useClient();
  const [where, setWhere] = useState<'folder' | 'here'>('folder');
  const [taken, setTaken] = useState<(typeof TAKEN)[number]>('rename');
  const [encoding, setEncoding] = useState<(typeof ENCODINGS)[number]>('cp437');
  const folder = entry.name.slice(0, stemLength(entry));
  const parent = entry.parentId ?? null;
  const made = useRef<string>(undefined);
  /** An attempt that failed has left its folder, which the next one takes. */
  const newFolder = async (idempotencyKey: KeyOfContent): Promise<string> => {
    const body = { name: folder, parent_id: parent, on_conflict: 'rename' as const };
    made.current ??= (await client.post('/folders', { body, idempotencyKey })).id;
    return made.current;
  };
  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const folder_id = where === 'here' ? parent : await newFolder(idempotencyKey);
    const body = { file_id: entry.id, folder_id, on_conflict: taken, encoding };
    onBegun(await client.post('/imports', { body, idempotencyKey }));
  });
  return (
    <HelperDialog
      title={t('unpackTitle', { name: entry.name })}
      doLabel={t('unpackDo')}
      isBusy={isBusy}
      problem={problem}
      onSubmit={submit}
      onClose={onClose}
    >
      <RadioGroup
        legend={t('where')}
        value={where}
        onValue={setWhere}
        options={[
          { value: 'folder', label: t('whereFolder', { folder }) },
          { value: 'here', label: t('whereHere') },
        ]}
      />
      <RadioGroup
        legend={t('taken')}
        value={taken}
        onValue={setTaken}
        options={TAKEN.map((value) => ({ value, label: t(`taken.${value}`) }))}
      />
      <Select
        label={t('names')}
        hint={t('namesHint')}
        value={encoding}
        onValue={setEncoding}
        options={ENCODINGS.map((value) => ({ value, label: t(`names.${value}`) }))}
      />
    </HelperDialog>
  );
}
