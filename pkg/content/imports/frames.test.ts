import { expect, test } from '@jest/globals';
import { FRAME_MAX_BYTES, frameHead, framesOf, jsonFrame } from './frames.ts';

const sent = [
  { type: 'O', text: '{"archive":1}' },
  { type: 'Z', text: '{}' },
  { type: 'C', text: '' },
  { type: 'C', text: 'a content' },
];
const bytes = Buffer.concat(sent.flatMap(({ type, text }) => [frameHead(type, text.length), Buffer.from(text)]));

async function heard(chunks: readonly Buffer[]): Promise<{ type: string; text: string }[]> {
  const frames = [];
  for await (const { type, payload } of framesOf(chunks as unknown as AsyncIterable<Buffer>)) frames.push({ type, payload });
  // Read at the end, so that a frame whose memory is used again is noticed.
  return frames.map(({ type, payload }) => ({ type, text: payload.toString() }));
}

test('frames are the same wherever what brings them is cut', async () => {
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 1) {
      const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      expect(await heard(chunks)).toEqual(sent);
    }
  }
  expect(await heard(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(sent);
});

test('a frame that is cut off is none', async () => {
  expect(await heard([bytes.subarray(0, -1)])).toEqual(sent.slice(0, -1));
  expect(await heard([jsonFrame('Z', {}).subarray(0, 3)])).toEqual([]);
});

test('a frame that says it is larger than a frame may be is refused before it has come', async () => {
  await expect(heard([frameHead('C', FRAME_MAX_BYTES + 1)])).rejects.toThrow(RangeError);
});
