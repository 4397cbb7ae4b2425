import { z } from 'zod';
import { pageOf, pageQueryOf } from '../../api/paging.ts';
import { Bytes, changesOf, Etag, NamedTime, text, Timestamp, Uuid } from '../../api/schemas.ts';
import { NamePart } from '../model/files/files.schema.ts';
import { LINK_RULES } from './link-rules.policy.ts';

const DOWNLOADS_MAX = 2 ** 31 - 1;
/** In characters. */
const [PASSWORD_MIN, PASSWORD_MAX] = [8, 256];
/** The longest sealed proof of a download, in characters. */
const PROOF_MAX = 1024;

/** What holders of a folder's link may do. A link of a file allows downloads only. */
export const SHARE_MODES = ['download', 'upload', 'both'] as const;
export type ShareMode = (typeof SHARE_MODES)[number];

const Token = z.string().meta({
  minLength: 64,
  maxLength: 64,
  pattern: '^[0-9a-f]{64}$',
  example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
});

/** docs/design/records.md, Share, tag, metadata. */
export const ShareView = z
  .object({
    id: Uuid,
    token: Token.nullable().describe('null if the caller is an administrator who is not an admin of the file or folder'),
    url: z.url().nullable().meta({
      description: 'address of the page for people; null if the token is null',
      example: 'https://files.example.org/s/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    }),
    file_id: Uuid.nullable().describe('null for the link of a folder'),
    file_name: z.string().nullable().meta({ example: 'thesis.pdf' }),
    folder_id: Uuid.nullable().describe('null for the link of a file'),
    folder_name: z.string().nullable().meta({ example: 'History' }),
    mode: z.enum(SHARE_MODES).describe('what holders of the link may do; a link of a file allows downloads only'),
    created_by: z.object({ id: Uuid, name: z.string().meta({ example: 'Ada Okafor' }) }),
    has_password: z.boolean(),
    expires_at: Timestamp.nullable(),
    max_downloads: z.int().nullable().meta({ example: 10 }),
    download_count: z.int().min(0).meta({ example: 3 }),
    is_active: z.boolean(),
    blocked_by: z.array(z.enum(LINK_RULES)).meta({
      description: "rules of the tenant's policy that the link breaks; a link that breaks any rule works for nobody",
      example: [],
    }),
    created_at: Timestamp,
    etag: Etag,
  })
  .meta({ id: 'Share' });
export type ShareView = z.output<typeof ShareView>;

export const SharePage = pageOf(ShareView).meta({ id: 'SharePage' });
export const SHARE_SORT_FIELDS = ['created_at'] as const;
export const ShareQuery = z.object(pageQueryOf(SHARE_SORT_FIELDS));
/** Query of the list of all links that the caller may see. */
export const AllSharesQuery = ShareQuery.extend({
  owner: Uuid.optional().describe('links that this user made'),
  q: NamePart.optional().describe('part of the name of the file or folder; case and accents do not matter'),
});
export type AllSharesQuery = z.output<typeof AllSharesQuery>;
export type ShareQuery = z.output<typeof ShareQuery>;

const Password = text(PASSWORD_MIN, PASSWORD_MAX).meta({ example: 'correct horse battery' });
const EndOfShare = NamedTime.meta({ example: '2099-01-31T12:00:00Z' })
  .nullable()
  .describe("when the link ends; null: never. The tenant's policy may require an end");
const MaxDownloads = z.int().min(1).max(DOWNLOADS_MAX).nullable().meta({ description: 'null: unlimited', example: 10 });

export const NewShare = z
  .object({
    password: Password.optional(),
    expires_at: EndOfShare.optional().describe("when it ends; null: never; left out: as late as the tenant's policy allows"),
    max_downloads: MaxDownloads.optional(),
  })
  .meta({ id: 'NewShare' });
export type NewShare = z.output<typeof NewShare>;

export const NewFolderShare = NewShare.extend({
  mode: z
    .enum(SHARE_MODES)
    .default('download')
    .describe('upload: holders send files into the folder but see nothing in it (a file request)'),
}).meta({ id: 'NewFolderShare' });
export type NewFolderShare = z.output<typeof NewFolderShare>;

/** For PATCH and PUT: changes the fields that are present; the others stay. */
export const ShareChanges = changesOf(
  z.object({
    password: Password.nullable().describe('null removes it'),
    expires_at: EndOfShare,
    max_downloads: MaxDownloads,
    is_active: z.boolean(),
  }),
).meta({ id: 'ShareChanges' });
export type ShareChanges = z.output<typeof ShareChanges>;

/** The service checks the token, so that a malformed one is a 404 like every other link that does not work. */
export const ShareParams = z.object({ token: Token });

/** The terms of a link as shown to anybody who has it. */
export const LINK_TERMS = {
  has_password: z.boolean(),
  expires_at: Timestamp.nullable(),
  downloads_left: z.int().min(1).nullable().meta({ description: 'null: unlimited', example: 7 }),
};

/** A link with a password names nothing to those who do not know it. */
export const NAME_BY_LINK = z
  .string()
  .nullable()
  .describe('null: the link has a password, and the request neither it nor a session');

/** The file as shown to anybody who has the link. */
export const SharedFileView = z
  .object({
    kind: z.literal('file'),
    mode: z.literal('download'),
    name: NAME_BY_LINK.meta({ example: 'thesis.pdf' }),
    size: Bytes.nullable().describe('null where `name` is'),
    mime_type: z.string().nullable().meta({ example: 'application/pdf' }),
    ...LINK_TERMS,
  })
  .meta({ id: 'SharedFileInfo' });
export type SharedFileView = z.output<typeof SharedFileView>;

export const ShareDownloadQuery = z.object({
  download: text(1, PROOF_MAX).optional().meta({
    description: '`X-Share-Download` from the first reply; with it, a range of that download does not count again',
    example: 'v1.p1.dGlja2V0',
  }),
});

/** A form or JSON. It accepts more characters than a password may have: one that is too long is simply wrong. */
export const SharePassword = z
  .object({ password: text(0, 1000).optional().meta({ example: 'correct horse battery' }) })
  .meta({ id: 'SharePassword' });
