/** What a file is to people. Icons, filters and plots tell these kinds apart. */
export const FILE_KINDS = [
  'image',
  'video',
  'audio',
  'pdf',
  'text',
  'document',
  'sheet',
  'slides',
  'archive',
  'code',
  'data',
  'book',
  'font',
  'other',
] as const;
export type FileKind = (typeof FILE_KINDS)[number];

const BY_TYPE: readonly (readonly [RegExp, FileKind])[] = [
  [/^application\/pdf$/, 'pdf'],
  [/^application\/epub\+zip$/, 'book'],
  [/wordprocessingml|opendocument\.text|^application\/(msword|rtf)$|^text\/rtf$/, 'document'],
  [/spreadsheetml|opendocument\.spreadsheet|^application\/vnd\.ms-excel/, 'sheet'],
  [/presentationml|opendocument\.presentation|^application\/vnd\.ms-powerpoint/, 'slides'],
  [/^(text\/(csv|tab-separated-values)|application\/(json|geo\+json|sql|x-sqlite3|vnd\.apache\.parquet)|.*\+json)$/, 'data'],
  [/^application\/(zip|gzip|x-(tar|7z-compressed|bzip2|xz|rar-compressed|gzip)|vnd\.rar|zstd|java-archive)$/, 'archive'],
  [
    /^(text\/(html|css|javascript|x-.+)|application\/(javascript|xml|x-(sh|httpd-php|yaml|typescript)|yaml|wasm)|.*\+xml)$/,
    'code',
  ],
  [/^(font\/|application\/(font|x-font|vnd\.ms-fontobject))/, 'font'],
  [/^image\//, 'image'],
  [/^video\//, 'video'],
  [/^audio\//, 'audio'],
  [/^text\//, 'text'],
];

const BY_ENDING: Readonly<Record<string, FileKind>> = {
  md: 'text',
  txt: 'text',
  tex: 'text',
  log: 'text',
  ...Object.fromEntries(
    'c cc cpp cs go h hs java js jsx kt lua php pl py r rb rs scala sh swift ts tsx vue xml yml yaml toml'
      .split(' ')
      .map((ending) => [ending, 'code']),
  ),
  ...Object.fromEntries('csv tsv json jsonl sql sqlite parquet'.split(' ').map((ending) => [ending, 'data'])),
  ...Object.fromEntries('zip gz tgz bz2 xz 7z rar zst tar'.split(' ').map((ending) => [ending, 'archive'])),
  ...Object.fromEntries('ttf otf woff woff2'.split(' ').map((ending) => [ending, 'font'])),
  docx: 'document',
  odt: 'document',
  xlsx: 'sheet',
  ods: 'sheet',
  pptx: 'slides',
  odp: 'slides',
  epub: 'book',
  pdf: 'pdf',
};

/** The endings of media, where only the name is known. Bytes that no type names are none of them. */
const MEDIA_BY_ENDING: Readonly<Record<string, FileKind>> = {
  ...Object.fromEntries('avif bmp gif heic jpeg jpg png svg tif tiff webp'.split(' ').map((ending) => [ending, 'image'])),
  ...Object.fromEntries('avi m4v mkv mov mp4 webm'.split(' ').map((ending) => [ending, 'video'])),
  ...Object.fromEntries('aac flac m4a mp3 oga ogg opus wav'.split(' ').map((ending) => [ending, 'audio'])),
};

/** Types that say nothing, or too little: the name's ending decides. */
const VAGUE = /^(application\/octet-stream|text\/plain|)$/;

/** Returns the kind of a file by its media type, and by its name where the type says too little. */
export function fileKind(mimeType: string | null | undefined, name: string): FileKind {
  const type = (mimeType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const ending = /\.([^.]+)$/u.exec(name)?.[1]?.toLowerCase() ?? '';
  const byEnding = Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined;
  if (mimeType === undefined && Object.hasOwn(MEDIA_BY_ENDING, ending)) return MEDIA_BY_ENDING[ending] ?? 'other';
  if (VAGUE.test(type)) return byEnding ?? (type === 'text/plain' ? 'text' : 'other');
  // SVG is XML, and a picture to people.
  if (type === 'image/svg+xml') return 'image';
  return BY_TYPE.find(([pattern]) => pattern.test(type))?.[1] ?? byEnding ?? 'other';
}
