import { expect, test } from '@jest/globals';
import { allowed, readable } from './permission.ts';

type Answer = 'granted' | 'prompt' | 'denied';

/** Files of a former visit: the browser asks about each, or with `isForAll` about all of them at once. */
function handlesOf(answers: readonly Answer[], { isForAll = false } = {}) {
  const granted = new Set<number>();
  const asked: number[] = [];
  const all = answers.map((answer, index) => ({
    index,
    handle: {
      queryPermission: async () => (granted.has(index) ? 'granted' : 'prompt'),
      requestPermission: async () => {
        asked.push(index);
        if (answer === 'granted') for (const one of isForAll ? answers.keys() : [index]) granted.add(one);
        return answer;
      },
    } as unknown as FileSystemFileHandle,
  }));
  return { all, asked };
}

async function allowedOf(all: ReturnType<typeof handlesOf>['all']): Promise<number[]> {
  const found: number[] = [];
  for await (const some of allowed(all)) found.push(...some.map(({ index }) => index));
  return found;
}

test('one question is enough where the browser allows all files of a former visit', async () => {
  const { all, asked } = handlesOf(['granted', 'granted', 'granted'], { isForAll: true });

  expect([await allowedOf(all), asked]).toEqual([[0, 1, 2], [0]]);
});

test('a browser that asks about each file is asked on, until the person refuses', async () => {
  const { all, asked } = handlesOf(['granted', 'granted', 'denied', 'granted']);

  expect([await allowedOf(all), asked]).toEqual([
    [0, 1],
    [0, 1, 2],
  ]);
});

test('a browser that wants another click before it asks again ends the questions', async () => {
  const handle = {
    queryPermission: async () => 'prompt',
    requestPermission: async () => Promise.reject(new DOMException('User activation is required', 'SecurityError')),
  } as unknown as FileSystemFileHandle;

  expect(await allowedOf([{ index: 0, handle }])).toEqual([]);
});

test('a handle that knows no permissions cannot be read', async () => {
  expect(await readable([{ handle: {} as FileSystemFileHandle }])).toEqual([]);
});
