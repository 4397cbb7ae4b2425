/**
 * The controls that stand behind HTTP, as a program: a bare Koa that does the least that each line of docs/design/testing.md,
 * Speed and size, names.
 */
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import Koa from 'koa';
import { Redis } from 'ioredis';
import pg from 'pg';

const { PORT, REDIS_URL = '', DATABASE_URL = '', JWKS = '{"keys":[]}', INSERT = '', FILES = '' } = process.env;
const redis = new Redis(REDIS_URL);
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 5 });
const keys = createLocalJWKSet(JSON.parse(JWKS) as JSONWebKeySet);

const FILE = `
  SELECT uuid AS id, name, size, mime_type, created_at, updated_at, path, version_number AS version, checksum FROM ${FILES}
  WHERE uuid = $1`;

const app = new Koa();
app.use(async (ctx) => {
  if (ctx.path.startsWith('/files/')) {
    const { rows } = await pool.query({
      name: 'file',
      text: FILE,
      values: [ctx.path.slice('/files/'.length)],
    });
    ctx.body = rows[0];
    return;
  }
  if (ctx.path !== '/launch') {
    ctx.type = 'json';
    ctx.body = await redis.get('bench');
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req as AsyncIterable<Buffer>) chunks.push(chunk);
  const token = new URLSearchParams(Buffer.concat(chunks).toString()).get('id_token') ?? '';
  await jwtVerify(token, keys);
  await pool.query(INSERT, [token]);
  ctx.redirect('/');
});
app.listen(Number(PORT), '127.0.0.1', () => process.send?.('ready'));
