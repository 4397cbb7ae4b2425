import { expect, test } from '@jest/globals';
import { fileKind } from './file-kind.ts';

test.each([
  ['image/png', 'a.png', 'image'],
  ['image/svg+xml', 'a.svg', 'image'],
  ['application/pdf', 'a', 'pdf'],
  ['text/plain', 'notes.txt', 'text'],
  ['text/plain; charset=utf-8', 'main.rs', 'code'],
  ['text/plain', 'constructor', 'text'],
  ['application/octet-stream', 'table.parquet', 'data'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'essay.docx', 'document'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'marks.ods', 'sheet'],
  ['application/vnd.ms-powerpoint', 'talk.ppt', 'slides'],
  ['application/geo+json', 'map', 'data'],
  ['application/zip', 'all.zip', 'archive'],
  ['application/epub+zip', 'novel.epub', 'book'],
  ['application/x-unheard-of', 'a.b', 'other'],
  [null, 'song.unknown', 'other'],
  [undefined, 'Dawn.PNG', 'image'],
  [undefined, 'song.mp3', 'audio'],
  ['application/octet-stream', 'Dawn.png', 'other'],
  ['text/plain', 'song.mp3', 'text'],
])('a file of type %s called %s is of the kind %s', (type, name, kind) => {
  expect(fileKind(type, name)).toBe(kind);
});
