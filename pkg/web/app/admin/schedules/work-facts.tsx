import type { Schedule } from '../../../api/operations.generated.ts';
import { inDigits } from '../../../text/language.ts';
import { t } from '../../../text/schedules.ts';
import { useClient } from '../../services.ts';
import { useLoaded } from '../../use-loaded.ts';
import { type BatchDraft, draftOf } from './batch.ts';
import { FolderPath } from './folder-field.tsx';

/** What a schedule works on, as terms of a list of facts. */
export function WorkFacts({ schedule }: { readonly schedule: Schedule }) {
  const { kind, arguments: given } = schedule;
  const { folder_id: folder, keep } = given;
  if (kind === 'export_folder' && typeof folder === 'string')
    return (
      <>
        <dt>{t('folder')}</dt>
        <dd>
          <ToFolder id={folder} />
        </dd>
        <dt>{t('keep')}</dt>
        <dd>{typeof keep === 'number' ? inDigits(keep) : '–'}</dd>
      </>
    );
  const draft = kind === 'batch' ? draftOf(given) : undefined;
  if (draft) return <BatchFacts draft={draft} />;
  if (Object.keys(given).length === 0) return null;
  return (
    <>
      <dt>{t('arguments')}</dt>
      <dd>
        <code>{JSON.stringify(given)}</code>
      </dd>
    </>
  );
}

const ToFolder = ({ id }: { readonly id: string }) => (
  <a href={`/files/${id}`}>
    <FolderPath id={id} />
  </a>
);

function BatchFacts({ draft }: { readonly draft: BatchDraft }) {
  const { operation, folder, name, type, having, destination, tag } = draft;
  return (
    <>
      <dt>{t('batchDo')}</dt>
      <dd>{t(`batch.${operation}`)}</dd>
      {folder && (
        <>
          <dt>{t('batchFolder')}</dt>
          <dd>
            <ToFolder id={folder.id} />
          </dd>
        </>
      )}
      {name !== '' && (
        <>
          <dt>{t('batchNamed')}</dt>
          <dd>{name}</dd>
        </>
      )}
      {type !== '' && (
        <>
          <dt>{t('batchType')}</dt>
          <dd>{t(`type.${type}`)}</dd>
        </>
      )}
      {having !== '' && (
        <>
          <dt>{t('batchTag')}</dt>
          <dd>
            <TagName id={having} />
          </dd>
        </>
      )}
      {operation === 'move' && destination && (
        <>
          <dt>{t('destination')}</dt>
          <dd>
            <ToFolder id={destination.id} />
          </dd>
        </>
      )}
      {(operation === 'tag' || operation === 'untag') && (
        <>
          <dt>{t('tag')}</dt>
          <dd>
            <TagName id={tag} />
          </dd>
        </>
      )}
    </>
  );
}

/** The name of a tag; its id if it is another's. */
function TagName({ id }: { readonly id: string }) {
  const client = useClient();
  const { value } = useLoaded((signal) => client.get('/tags/{id}', { path: { id }, signal }), [id]);
  return <>{value?.name ?? id}</>;
}
