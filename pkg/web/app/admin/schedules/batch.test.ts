import { expect, test } from '@jest/globals';
import { batchOf, type BatchDraft, draftOf, NEW_BATCH } from './batch.ts';

const FOLDER = { id: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11' };
const THERE = { id: '2f1c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a12' };
const TAG = '3a1c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a13';

test('what the form says comes back from its batch', () => {
  const drafts: BatchDraft[] = [
    { ...NEW_BATCH, folder: FOLDER },
    { ...NEW_BATCH, folder: FOLDER, name: 'draft', type: 'image/*', having: TAG },
    { ...NEW_BATCH, operation: 'move', folder: FOLDER, destination: THERE },
    { ...NEW_BATCH, operation: 'move', folder: FOLDER, destination: THERE, onConflict: 'fail' },
    { ...NEW_BATCH, operation: 'untag', folder: FOLDER, tag: TAG },
  ];

  expect(drafts.map((draft) => draftOf({ ...batchOf(draft) }))).toEqual(drafts);
});

test('a batch is made once nothing is missing', () => {
  const drafts: BatchDraft[] = [
    NEW_BATCH,
    { ...NEW_BATCH, operation: 'move', folder: FOLDER },
    { ...NEW_BATCH, operation: 'tag', folder: FOLDER },
  ];

  expect(drafts.map(batchOf)).toEqual([undefined, undefined, undefined]);
  expect(batchOf({ ...NEW_BATCH, folder: FOLDER, name: ' draft ' })).toEqual({
    operation: 'delete',
    filter: { folder_id: FOLDER.id, q: 'draft' },
  });
});

test('a batch that says more than the form can has no draft', () => {
  const filter = { folder_id: FOLDER.id };

  expect(
    [
      { operation: 'grant', filter },
      { operation: 'delete', filter, dry_run: true },
      { operation: 'delete', filter: {} },
      { operation: 'delete', filter: { folder_id: 'root' } },
      { operation: 'delete', filter: { ...filter, search: true, q: 'a' } },
      { operation: 'delete', filter: { ...filter, mime_type: 'font/*' } },
      { operation: 'delete', filter: { ...filter, tag: ['To read'] } },
      { operation: 'delete', filter: { ...filter, tag: [TAG, FOLDER.id] } },
      { operation: 'move', filter, arguments: { folder_id: null } },
      {},
    ].map(draftOf),
  ).toEqual(Array.from({ length: 10 }));
});
