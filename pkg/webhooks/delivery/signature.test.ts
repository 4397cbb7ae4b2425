import { expect, test } from '@jest/globals';
import { signatureHeaders, signingKeys } from './signature.ts';

test('signs as the example of the Standard Webhooks specification does', () => {
  const headers = signatureHeaders({
    body: '{"test": 2432232314}',
    messageId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: new Date(1_614_265_330_500),
    keys: signingKeys('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', null),
  });
  expect(headers).toMatchObject({
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('a secret without whsec_ signs as whsec_ and its base64; during a rotation both sign, and hex uses the new one', () => {
  const of = (secret: string, previousSecret: string | null) =>
    signatureHeaders({ body: '{}', messageId: 'id', at: new Date(0), keys: signingKeys(secret, previousSecret) });
  const [plain, prefixed, both] = [of('new', null), of(`whsec_${Buffer.from('new').toString('base64')}`, null), of('new', 'old')];

  expect(plain['webhook-signature']).toBe(prefixed['webhook-signature']);
  expect(both['webhook-signature']).toBe(`${plain['webhook-signature']} ${of('old', null)['webhook-signature']}`);
  expect(both['x-carrel-signature']).toBe(plain['x-carrel-signature']);
  // printf '{}' | openssl dgst -sha256 -hmac new
  expect(plain['x-carrel-signature']).toMatch(/^[0-9a-f]{64}$/);
});
