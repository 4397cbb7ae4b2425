/** The control of test/bench/weight.ts: a Koa that connects to Postgres, Redis and S3, and answers each request from Redis. */
import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import Koa from 'koa';
import { Redis } from 'ioredis';
import pg from 'pg';

const { PORT, REDIS_URL = '', DATABASE_URL = '', S3_ENDPOINT = '', S3_BUCKET = '', S3_KEY = '', S3_SECRET = '' } = process.env;
const redis = new Redis(REDIS_URL);
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 5 });
const credentials = { accessKeyId: S3_KEY, secretAccessKey: S3_SECRET };
const s3 = new S3Client({ endpoint: S3_ENDPOINT, region: 'us-east-1', forcePathStyle: true, credentials });
await Promise.all([redis.ping(), pool.query('SELECT 1'), s3.send(new HeadBucketCommand({ Bucket: S3_BUCKET }))]);

const app = new Koa();
app.use(async (ctx) => {
  ctx.type = 'json';
  ctx.body = await redis.get('bench');
});
app.listen(Number(PORT), '127.0.0.1');
