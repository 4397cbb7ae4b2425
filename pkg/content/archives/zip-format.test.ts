import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { directoryRecord, directoryRecordBytes, localHeader, localHeaderBytes } from './zip-format.ts';
import { GIB } from '../../runtime/bytes.ts';

test('headers and records have the lengths that are computed without them, whatever the name, time, size and offset', () => {
  const head = fc.record({
    name: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    modifiedAt: fc.date({ min: new Date(-1e12), max: new Date(4e12), noInvalidDate: true }),
    isFolder: fc.boolean(),
    size: fc.nat({ max: 8 * GIB }),
    crc: fc.nat(),
    isKnownBefore: fc.boolean(),
  });
  fc.assert(
    fc.property(head, fc.nat({ max: 8 * GIB }), (entry, offset) => {
      expect(localHeaderBytes(entry)).toBe(localHeader(entry).length);
      expect(directoryRecordBytes(entry, offset)).toBe(directoryRecord(entry, offset).length);
    }),
    {
      examples: [
        [
          { name: Buffer.from('a'), modifiedAt: new Date(0), isFolder: false, size: 2 ** 32 - 1, crc: 0, isKnownBefore: true },
          2 ** 32 - 1,
        ],
      ],
    },
  );
});
