import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../pkg/runtime/random.ts';
import { INSTRUCTOR, LEARNER } from '../../../pkg/local/demo/lms/claims.ts';
import { launched } from '../../support/lms/launched.ts';
import { opensLink, placedFor } from '../../support/lms/placed.ts';
import { gradingSuite } from '../../support/suites/worker-suite.ts';
import { besideOperator, operatorSettings } from './beside-operator.ts';

const { platform, grading } = gradingSuite();
const run = besideOperator(operatorSettings(platform));
const links = (...args: string[]) => run('keys', 'links', ...args, '--tenant', grading.tenant.slug);
const listed = async (): Promise<{ id: string; signs: boolean; links: number }[]> =>
  (await links('list', '--json')).stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** A course whose teacher can place links. */
async function courseOf() {
  const { tenant, at } = grading;
  const id = `course-${systemRandom.hex(5)}`;
  const course = { id, title: id };
  const teacher = await launched(tenant, at, { user: { id: 'prof' }, roles: [INSTRUCTOR], course });
  const file = (await teacher.api.upload('/files', { name: `${id}.txt`, file: Buffer.from('x') })).body.id as string;
  const placeLink = (): Promise<Record<string, string>> => placedFor(tenant, at, teacher, file);
  const opens = (custom: Record<string, string>) =>
    opensLink(tenant, at, {
      user: { id: systemRandom.hex(5) },
      roles: [LEARNER],
      course,
      custom,
      resourceLinkId: custom['carrel_target']?.slice(-20) ?? '',
    });
  return { file, placeLink, opens };
}
const keyIdOf = (custom: Record<string, string>): string => custom['carrel_target']?.split('.')[1] ?? '';

test('a rotation has a new key sign, and the links of the former one work until that is withdrawn', async () => {
  const { file, placeLink, opens } = await courseOf();
  const early = await placeLink();
  await opens(early);
  const first = keyIdOf(early);

  const refused = await links('withdraw', first);
  const rotated = await links('rotate', '--json');
  const { id: second } = JSON.parse(rotated.stdout);
  const late = await placeLink();
  const both = [await opens(early), await opens(late)];
  const before = await listed();
  const withdrawn = await links('withdraw', first);
  const after = [await opens(early), await opens(late)];

  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`key ${first} is the signing key; rotate first: carrel keys links rotate`),
  });
  expect([rotated.code, keyIdOf(late)]).toEqual([0, second]);
  expect(both.map(({ link }) => link.file?.id)).toEqual([file, file]);
  expect(before).toMatchObject([
    { id: second, signs: true, links: 1 },
    { id: first, signs: false, links: 1 },
  ]);
  expect(withdrawn).toMatchObject({ code: 0, stdout: expect.stringContaining('1 link that was opened has to be placed again') });
  expect(after.map(({ link }) => [link.file?.id, link.problem?.code])).toEqual([
    [undefined, 'target_key_unknown'],
    [file, undefined],
  ]);
  expect(await listed()).toMatchObject([{ id: second, signs: true, links: 1 }]);
});

test('a key or tenant that is none is named', async () => {
  const unknown = await links('withdraw', '000000000000');
  const nobody = await run('keys', 'links', 'list', '--tenant', 'nobody');

  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining(`${grading.tenant.slug} has no key 000000000000`) });
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no tenant with the slug nobody') });
});
