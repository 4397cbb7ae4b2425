import { expect, test } from '@jest/globals';
import { sign } from './signature.ts';

test('signs as in the published example of Signature Version 4 for S3 (GET with a Range header)', () => {
  const key = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  const url = new URL('https://examplebucket.s3.amazonaws.com/test.txt');

  const headers = sign(
    { method: 'GET', url, headers: { Range: 'bytes=0-9' }, body: '' },
    key,
    new Date('2013-05-24T00:00:00.000Z'),
  );

  expect(headers['authorization']).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
});

test('signs a query in the order of its names, with every reserved character escaped', () => {
  const key = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  const url = new URL('https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2');

  const headers = sign({ method: 'GET', url, headers: {}, body: '' }, key, new Date('2013-05-24T00:00:00.000Z'));

  expect(headers['authorization']).toContain('Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
});
