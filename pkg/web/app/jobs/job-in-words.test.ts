import { afterAll, expect, test } from '@jest/globals';
import type { Job } from '../../api/operations.generated.ts';
import { speak } from '../../text/language.ts';
import { kindInWords, titleOf } from './job-in-words.ts';

const job = (given: Partial<Job> & object, total = 1): Job =>
  ({
    subject: { type: 'file', id: '7b0c6d6e-5c1f-4d0a-9a53-0d6f0e3b2a11', name: 'report.pdf' },
    progress: { done: 0, total, failed: 0, skipped: 0 },
    ...given,
  }) as Job;

const translation = job({ kind: 'translate', target_language: 'es' } as Partial<Job>);
const batch = (operation: string, total: number, dry_run = false): Job =>
  job({ kind: 'batch', result: { operation, dry_run, bytes: 0 } } as Partial<Job>, total);

afterAll(() => speak('en'));

test('a job is named by what it does and to what', () => {
  expect([translation, job({ kind: 'import' }, 40), batch('delete', 1), batch('move', 5), batch('tag', 2)].map(titleOf)).toEqual([
    'Translate “report.pdf” into Spanish',
    'Unpack “report.pdf”',
    'Move “report.pdf” to the trash',
    'Move “report.pdf” and 4 more',
    'Add a tag to “report.pdf” and 1 more',
  ]);
});

test('a job without a subject is named by its kind, and a trial run is called so', () => {
  const nameless = { ...translation, subject: null };

  expect([nameless, { ...batch('purge', 3), subject: null }, batch('purge', 1, true)].map(titleOf)).toEqual([
    'Translate a PDF',
    'Delete for ever',
    'Delete “report.pdf” for ever (trial run)',
  ]);
});

test('a language that is no tag is shown as the helper calls it, and a name with braces as it is', () => {
  const odd = job({
    kind: 'translate',
    target_language: 'no tag',
    subject: { type: 'file', id: '1', name: '{language}.pdf' },
  } as Partial<Job>);

  expect(titleOf(odd)).toBe('Translate “{language}.pdf” into no tag');
});

test('a kind is said in words, and one that the page does not know by its name', () => {
  expect(['batch', 'export', 'of_later'].map(kindInWords)).toEqual(['Change many files', 'Pack an archive', 'of_later']);
});

test('German names fit one thing and many', async () => {
  await speak('de');

  expect([translation, batch('delete', 1), batch('move', 2), batch('grant', 5)].map(titleOf)).toEqual([
    '„report.pdf“ übersetzen (Spanisch)',
    '„report.pdf“ in den Papierkorb verschieben',
    '„report.pdf“ (und 1 weiteres) verschieben',
    '„report.pdf“ (und 4 weitere): Zugriff geben',
  ]);
});
