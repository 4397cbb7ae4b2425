import { useState } from 'preact/hooks';
import type { NewSchedule, Schedule } from '../../../api/operations.generated.ts';
import { Button } from '../../../design/button.tsx';
import { Checkbox } from '../../../design/checkbox.tsx';
import { Dialog } from '../../../design/dialog.tsx';
import { Select } from '../../../design/select.tsx';
import { TextField } from '../../../design/text-field.tsx';
import { t } from '../../../text/schedules.ts';
import { ProblemNote } from '../../problem-note.tsx';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { useSettled } from '../../use-settled.ts';
import { useSubmit } from '../../use-submit.ts';
import { type BatchDraft, batchOf, draftOf, NEW_BATCH } from './batch.ts';
import { BatchFields } from './batch-fields.tsx';
import { FolderField, type Folder } from './folder-field.tsx';
import { NextRuns } from './next-runs.tsx';
import { cronOf, faultOf, NIGHTLY, timesOf } from './times.ts';
import { TimesFields } from './times-fields.tsx';
import { Trial } from './trial.tsx';

const KINDS = [
  'empty_trash',
  'apply_retention',
  'export_folder',
  'batch',
  'verify_checksums',
  'recount_usage',
  'sync_rosters',
  'sweep_objects',
  'sweep_uploads',
] as const;
type Kind = Schedule['kind'];

const KEEP = 7;
/** The most that one reply has. */
const TAGS_SHOWN = 200;

interface Props {
  /** Undefined: a new one. */
  readonly schedule?: Schedule;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** Adds a schedule or changes one, and shows when it would run. */
export function ScheduleDialog({ schedule, onClose, onSaved }: Props) {
  const client = useClient();
  const [name, setName] = useState(schedule?.name ?? '');
  const [kind, setKind] = useState<Kind>(schedule?.kind ?? 'empty_trash');
  const [folder, setFolder] = useState<Folder | undefined>(() => folderOf(schedule));
  const [keep, setKeep] = useState(() => keepOf(schedule));
  const former = schedule?.kind === 'batch' ? draftOf(schedule.arguments) : undefined;
  const [draft, setDraft] = useState<BatchDraft>(former ?? NEW_BATCH);
  /** The batch that was tried, or is being tried. */
  const [trial, setTrial] = useState<TrialState>();
  const [times, setTimes] = useState(schedule ? timesOf(schedule.cron) : NIGHTLY);
  const [zone, setZone] = useState(schedule?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [catchUp, setCatchUp] = useState(schedule?.catch_up ?? true);
  const [isTried, setTried] = useState(false);
  const cron = cronOf(times);
  const hasCron = faultOf(times) === undefined;
  const asked = useSettled(hasCron ? cron : undefined);
  const upcoming = useLoaded(
    async (signal) =>
      asked === undefined ? undefined : client.get('/schedules/times', { query: { cron: asked, time_zone: zone }, signal }),
    [asked, zone],
  );
  const tags = useLoaded(
    async (signal) =>
      kind === 'batch' ? (await client.get('/tags', { query: { sort: 'name', limit: TAGS_SHOWN }, signal })).data : [],
    [kind === 'batch'],
  );
  const isExport = kind === 'export_folder';
  // A batch that says more than the form stays as it is.
  const isFixed = schedule?.kind === 'batch' && !former;
  const batch = kind === 'batch' && !isFixed ? batchOf(draft) : undefined;
  const key = batch ? JSON.stringify(batch) : '';
  // Of another batch, before a change of the form, a trial says nothing.
  const tried = batch && trial?.key === key ? trial : undefined;
  const isBatchMissing = kind === 'batch' && !isFixed && batch === undefined;
  const isComplete = name.trim() !== '' && hasCron && (!isExport || folder !== undefined) && !isBatchMissing;
  const isUntried = kind === 'batch' && !isFixed && tried?.state !== 'done' && key !== keyOf(former);

  const { isBusy, problem, submit } = useSubmit(async (idempotencyKey) => {
    const common = { name: name.trim(), cron, time_zone: zone, catch_up: catchUp };
    const given = isExport ? { arguments: { folder_id: folder?.id, keep: Number(keep) } } : batch ? { arguments: batch } : {};
    if (schedule) {
      const work = isFixed ? {} : { kind, arguments: given.arguments ?? {} };
      const body = { ...common, ...work };
      await client.patch('/schedules/{id}', { path: { id: schedule.id }, body, ifMatch: schedule.etag, idempotencyKey });
    } else await client.post('/schedules', { body: { ...common, kind, ...given } as NewSchedule, idempotencyKey });
    onSaved();
  });
  const ofCron = upcoming.problem?.ofField('cron') ?? problem?.ofField('cron');
  const ofKeep = problem?.ofField('arguments.keep');
  const isOfField = ofCron !== undefined || ofKeep !== undefined || problem?.ofField('name') !== undefined;
  return (
    <Dialog
      title={schedule ? t('edit') : t('add')}
      closeLabel={t('cancel')}
      onClose={onClose}
      isHeld={isBusy}
      onSubmit={() => {
        setTried(true);
        if (!isComplete) return;
        if (isUntried) setTrial({ key, turn: (trial?.turn ?? 0) + 1, state: 'runs' });
        else submit();
      }}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy || tried?.state === 'runs'}>
            {isUntried ? t('trialDo') : schedule ? t('save') : t('add')}
          </Button>
        </>
      }
    >
      {problem && !isOfField && <ProblemNote problem={problem} />}
      <TextField
        label={t('name')}
        value={name}
        onValue={setName}
        autocomplete="off"
        autofocus
        maxLength={100}
        error={isTried && name.trim() === '' ? t('nameMissing') : problem?.ofField('name')}
      />
      {isFixed ? (
        <p class="admin-quiet">{t('batchNote')}</p>
      ) : (
        <Select
          label={t('work')}
          value={kind}
          onValue={setKind}
          options={KINDS.map((value) => ({ value, label: t(`kind.${value}`) }))}
        />
      )}
      {isExport && (
        <>
          <FolderField
            label={t('folder')}
            folder={folder}
            onFolder={setFolder}
            error={isTried && !folder ? t('folderMissing') : undefined}
          />
          <TextField
            label={t('keep')}
            hint={t('keepHint')}
            type="number"
            min={1}
            max={100}
            inputmode="numeric"
            value={keep}
            onValue={setKeep}
            error={ofKeep}
          />
        </>
      )}
      {kind === 'batch' && !isFixed && <BatchFields draft={draft} onDraft={setDraft} tags={tags.value} isTried={isTried} />}
      {tags.problem && <ProblemNote problem={tags.problem} onRetry={tags.reload} />}
      <TimesFields times={times} onTimes={setTimes} zone={zone} onZone={setZone} cronError={ofCron} isTried={isTried} />
      {upcoming.problem && ofCron === undefined && <ProblemNote problem={upcoming.problem} onRetry={upcoming.reload} />}
      {upcoming.value && <NextRuns times={upcoming.value.times} zone={zone} heading="h3" />}
      <Checkbox label={t('catchUp')} hint={t('catchUpHint')} isChecked={catchUp} onChange={setCatchUp} />
      {batch && tried && (
        <Trial key={tried.turn} batch={batch} onEnd={(isDone) => setTrial({ ...tried, state: isDone ? 'done' : 'failed' })} />
      )}
    </Dialog>
  );
}

interface TrialState {
  /** The batch, as JSON. */
  readonly key: string;
  /** Counts attempts: one that failed may be repeated. */
  readonly turn: number;
  readonly state: 'runs' | 'done' | 'failed';
}

const keyOf = (draft: BatchDraft | undefined): string | undefined => draft && JSON.stringify(batchOf(draft));

function folderOf(schedule: Schedule | undefined): Folder | undefined {
  const id = schedule?.arguments['folder_id'];
  return typeof id === 'string' ? { id } : undefined;
}

function keepOf(schedule: Schedule | undefined): string {
  const keep = schedule?.arguments['keep'];
  return String(typeof keep === 'number' ? keep : KEEP);
}
