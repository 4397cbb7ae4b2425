import { expect, test } from '@jest/globals';
import { isInward, literalInwardAddress, parseAllowedRanges } from './inward.ts';

test.each([
  // IPv4 in each notation that a URL folds
  'http://127.0.0.1/x',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://127.1/',
  'http://127.0.1/',
  'http://127.255.255.254/',
  'http://127.0.0.1./',
  'http://%31%32%37.0.0.1/',
  'http://１２７.０.０.１/',
  'http://127。0。0。1/',
  'http://0/',
  'https://0.0.0.0/',
  'https://0.1.2.3/',
  // the ranges
  'https://10.1.2.3:8443/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://169.254.1.1/',
  'https://192.0.0.8/',
  'https://192.0.2.1/',
  'https://192.88.99.1/',
  'https://198.18.0.1/',
  'https://198.51.100.7/',
  'https://203.0.113.9/',
  'https://224.0.0.1/',
  'https://239.255.255.250/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  // metadata services
  'https://169.254.169.254/latest',
  'http://2852039166/latest/meta-data/',
  'https://[fd00:ec2::254]/',
  'https://[fd20:ce::254]/',
  'https://100.100.100.200/',
  'https://192.0.0.192/opc/v2/',
  'https://168.63.129.16/machine',
  // IPv6
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[fe80::1]/',
  'https://[febf::1]/',
  'https://[fec0::1]/',
  'https://[fc00::1]/',
  'https://[fd00::1]/',
  'https://[ff02::1]/',
  'https://[100::1]/',
  'https://[2001:db8::1]/',
  'https://[3fff::1]/',
  'https://[2001:2::1]/',
  'https://[2001:10::1]/',
  'https://[5f00::1]/',
  'https://[4000::1]/',
  // IPv6 around IPv4
  'https://[::ffff:192.168.0.1]/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[64:ff9b::a00:1]/',
  'https://[64:ff9b::169.254.169.254]/',
  'https://[64:ff9b:1::8.8.8.8]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/',
  'https://[2606:4700::5efe:10.0.0.1]/',
  'https://[2606:4700::200:5efe:10.0.0.1]/',
  // names
  'http://localhost:1/',
  'http://LOCALHOST/',
  'http://receiver.localhost:8080/hook',
  'http://localhost./',
])('%s leads inside', (url) => {
  expect(literalInwardAddress(url, [])).toBeDefined();
});

test.each([
  'https://8.8.8.8/',
  'https://172.15.255.255/',
  'https://172.32.0.1/',
  'https://100.128.0.1/',
  'https://example.com/',
  'https://[2606:4700::1111]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[64:ff9b::808:808]/',
  'https://localhost.example.com/',
  'https://notlocalhost/',
])('%s does not', (url) => {
  expect(literalInwardAddress(url, [])).toBeUndefined();
});

test.each(['fe80::1%eth0', '::1%lo', '::ffff:10.0.0.1%eth0', '', 'localhost', '127.1', '10.0.0.1/8', '8.8.8.8 ', 'fe80::1%25eth0'])(
  'the answer %p of a name server is refused',
  (answer) => {
    expect(isInward(answer, [])).toBe(true);
  },
);

test('a range on the list stays reachable, its neighbour does not', () => {
  const allowed = parseAllowedRanges('10.1.0.0/16, 127.0.0.0/8,::1/128');

  expect(isInward('10.1.9.9', allowed)).toBe(false);
  expect(isInward('::ffff:10.1.9.9', allowed)).toBe(false);
  expect(isInward('10.2.0.1', allowed)).toBe(true);
  expect(isInward('fd00::1', allowed)).toBe(true);
  expect(literalInwardAddress('http://receiver.localhost:8080/', allowed)).toBeUndefined();
});

test('localhost stays refused while only one of its two addresses is on the list', () => {
  expect(literalInwardAddress('http://localhost/', parseAllowedRanges('127.0.0.0/8'))).toBe('localhost');
});

test('an entry that is no range is named', () => {
  expect(() => parseAllowedRanges('10.0.0.0/8,loopback')).toThrow('loopback is no address range');
});
