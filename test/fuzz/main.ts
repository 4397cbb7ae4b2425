/**
 * `make fuzz [REQUESTS=50000 SEED=1]`: schemathesis (PyPI, pinned in hack/fuzz) reads `/api/v1/openapi.json` and sends requests,
 * valid and not, with tokens of three roles to a server on real back ends. Exit 1 when it finds anything: a 5xx, a status, header
 * or shape that is not declared, a valid request that is refused, an invalid one that is taken. Rounds go by role, each with the
 * next seed, until enough were sent: a round sends some 20,000, so the default asks as all three.
 *
 * Invariant: a round does not depend on the rounds before it. Each has a tenant of its own, since requests change passwords and
 * roles, and its seed gives its role: `make fuzz REQUESTS=1 SEED=4` is the fourth round alone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonEnvironment } from '../support/programs/python.ts';
import { stores } from '../support/backends/stores.ts';
import { FUZZED_ROLES, type FuzzedRole, type FuzzedTenant, fuzzedTenant } from './tenant.ts';

const wanted = Number(process.env.REQUESTS ?? 50_000);
const firstSeed = Number(process.env.SEED ?? 1);
if (!Number.isSafeInteger(firstSeed) || firstSeed < 1) throw new Error('fuzz: SEED must be 1 or more');
const HERE = import.meta.dirname;
/** Cases of an operation and phase in one round. */
const EXAMPLES = 40;

const tool = join(pythonEnvironment('fuzz'), 'schemathesis');
const scratch = mkdtempSync(join(tmpdir(), 'carrel-fuzz-'));
const running = await stores();
const roles = new Set<FuzzedRole>();
let sent = 0;
let found = 0;
try {
  for (let seed = firstSeed; sent < wanted; seed += 1) {
    const role = FUZZED_ROLES[(seed - 1) % FUZZED_ROLES.length] as FuzzedRole;
    const { requests, failed } = await round(role, seed);
    if (requests === 0) throw new Error('fuzz: schemathesis sent no request');
    sent += requests;
    roles.add(role);
    if (failed) found += 1;
    process.stdout.write(
      `fuzz: round ${seed - firstSeed + 1} as ${role}, seed ${seed}: ` +
        `${requests} requests, ${failed ? 'FOUND' : 'nothing found'}; ${sent} of ${wanted}\n`,
    );
  }
} finally {
  await running.stop();
  rmSync(scratch, { recursive: true, force: true });
}
process.stdout.write(
  `fuzz: ${sent} requests as ${[...roles].join(', ')}: ${found === 0 ? 'nothing found' : `${found} rounds found something`}\n`,
);
process.exit(found === 0 ? 0 : 1);

async function round(role: FuzzedRole, seed: number): Promise<{ requests: number; failed: boolean }> {
  const fuzzed = await fuzzedTenant(running);
  try {
    const before = await requestsServed(fuzzed);
    const failed = await run(fuzzed, role, seed);
    return { requests: (await requestsServed(fuzzed)) - before, failed };
  } finally {
    await fuzzed.stop();
  }
}

async function requestsServed({ tenant }: FuzzedTenant): Promise<number> {
  const text = await (await fetch(`${tenant.opsUrl}/metrics`)).text();
  return [...text.matchAll(/^http_request_duration_seconds_count\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

async function run({ tenant, people, known }: FuzzedTenant, role: FuzzedRole, seed: number): Promise<boolean> {
  const options = [
    '--seed',
    String(seed),
    '--max-examples',
    String(EXAMPLES),
    '--phases',
    'examples,coverage,fuzzing',
    '--continue-on-failure',
    '--exclude-method',
    'HEAD', // it is GET (test/integration/server/contract.test.ts), and its 400 says nothing that hooks.py could read
    '--exclude-checks',
    'positive_data_acceptance', // valid_is_taken of hooks.py is it, but for what rests on state
    '--warnings',
    'off',
    '--no-color',
  ];
  const child = spawn(
    tool,
    ['--config-file', join(HERE, 'schemathesis.toml'), 'run', `${tenant.apiUrl}/openapi.json`, ...options],
    {
      stdio: 'inherit',
      cwd: scratch, // it writes a cache of its own
      env: {
        ...process.env,
        PYTHONPATH: HERE,
        PYTHONDONTWRITEBYTECODE: '1',
        SCHEMATHESIS_HOOKS: 'hooks',
        CARREL_FUZZ_API: tenant.apiUrl,
        CARREL_FUZZ_EMAIL: people[role].email,
        CARREL_FUZZ_PASSWORD: people[role].password,
        CARREL_FUZZ_SEED: String(seed),
        CARREL_FUZZ_KNOWN: JSON.stringify(known[role]),
      },
    },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code !== 0;
}
