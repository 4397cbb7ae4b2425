import { expect, test } from '@jest/globals';
import { viewerOf } from './viewer-of.ts';

test.each([
  ['image/png', 'a.png', 'image'],
  ['image/svg+xml', 'a.svg', 'image'],
  ['image/tiff', 'scan.tiff', 'card'],
  ['text/plain', 'a.txt', 'text'],
  ['text/plain; charset=utf-8', 'README.md', 'markdown'],
  ['text/markdown', 'notes', 'markdown'],
  ['text/html', 'page.html', 'text'],
  ['application/json', 'a.json', 'text'],
  ['application/octet-stream', 'main.rs', 'text'],
  ['application/pdf', 'a.pdf', 'pdf'],
  [null, 'a.pdf', 'pdf'],
  ['audio/mpeg', 'a.mp3', 'audio'],
  ['video/mp4', 'a.mp4', 'video'],
  ['application/zip', 'a.zip', 'card'],
  ['application/octet-stream', 'a', 'card'],
  [null, 'constructor', 'card'],
])('a file of type %s named %s is shown as %s', (mimeType, name, viewer) => {
  expect(viewerOf({ mimeType, name })).toBe(viewer);
});
