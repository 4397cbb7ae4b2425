import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { lauxlib, lua, lualib, to_luastring } from 'fengari';
import { tenantWith } from '../../test/support/cluster/tenant-resources.ts';
import { failing, good, scopedAfter, tenantAfter } from '../../test/support/cluster/resource-states.ts';
import { ROOT, wordsOf } from '../docs/documentation.ts';

/** Argo CD runs this script. Here it judges resources whose conditions the operator's own code wrote. */
const SCRIPT = readFileSync(join(ROOT, 'config/argocd/health/health.lua'), 'utf8');

type State = ReturnType<typeof lauxlib.luaL_newstate>;

function push(state: State, value: unknown): void {
  if (typeof value === 'string') lua.lua_pushstring(state, to_luastring(value));
  else if (typeof value === 'number') lua.lua_pushnumber(state, value);
  else if (typeof value === 'boolean') lua.lua_pushboolean(state, value);
  else {
    lua.lua_createtable(state, 0, 0);
    const isList = Array.isArray(value);
    for (const [key, entry] of Object.entries(value ?? {})) {
      if (entry === undefined) continue;
      push(state, entry);
      if (isList) lua.lua_seti(state, -2, Number(key) + 1);
      else lua.lua_setfield(state, -2, to_luastring(key));
    }
  }
}

/** Runs the script as Argo CD does: the resource is `obj`, and of Lua's libraries only base and table are there. */
function healthOf(resource: object): { status: string; message: string } {
  const state = lauxlib.luaL_newstate();
  try {
    lauxlib.luaL_requiref(state, to_luastring('_G'), lualib.luaopen_base, 1);
    lauxlib.luaL_requiref(state, to_luastring('table'), lualib.luaopen_table, 1);
    push(state, resource);
    lua.lua_setglobal(state, to_luastring('obj'));
    lua.lua_settop(state, 0);
    const isLoaded = lauxlib.luaL_loadstring(state, to_luastring(SCRIPT)) === lua.LUA_OK;
    if (!isLoaded || lua.lua_pcall(state, 0, 1, 0) !== lua.LUA_OK) throw new Error(lua.lua_tojsstring(state, -1));
    const [status, message] = ['status', 'message'].map((name) => {
      lua.lua_getfield(state, 1, to_luastring(name));
      return lua.lua_tojsstring(state, -1);
    });
    return { status: status ?? '', message: message ?? '' };
  } finally {
    lua.lua_close(state);
  }
}

test('a Tenant that nobody has seen yet, or whose change nobody has seen, progresses', async () => {
  const ready = await tenantAfter('WorkloadAvailable', good);

  expect(healthOf(tenantWith()).status).toBe('Progressing');
  for (const status of [{}, { observedGeneration: -1 }]) expect(healthOf({ ...tenantWith(), status }).status).toBe('Progressing');
  expect(healthOf(ready)).toEqual({ status: 'Healthy', message: 'answers at https://north.files.example' });
  expect(healthOf({ ...ready, metadata: { ...tenantWith().metadata, generation: 2 } }).status).toBe('Progressing');
});

test('a Tenant that is being deleted progresses, whatever its conditions say', async () => {
  const ready = (await tenantAfter('WorkloadAvailable', good)) as { metadata: object };

  expect(healthOf({ ...ready, metadata: { ...ready.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } }).status).toBe(
    'Progressing',
  );
});

test('a suspended Tenant is suspended, also when something else is wrong', async () => {
  expect(healthOf(await tenantAfter('WorkloadAvailable', good, { suspended: true })).status).toBe('Suspended');
  expect(healthOf(await tenantAfter('DatabaseReady', failing('ShardMissing', true), { suspended: true })).status).toBe(
    'Suspended',
  );
});

test('a step that waits for another progresses', async () => {
  const waiting = async () => ({
    ...(await good()),
    status: 'Unknown' as const,
    reason: 'WaitingForDatabaseReady',
    message: 'Waiting',
  });

  expect(healthOf(await tenantAfter('WorkloadAvailable', waiting)).status).toBe('Progressing');
});

const PROGRESSING = [
  'Deleting',
  'NamespaceTerminating',
  'NamespaceUnknown',
  'Pending',
  'RollingOut',
  'TenantDeleting',
  'WaitingForTenant',
];
const SUSPENDED = ['ClientIdMissing', 'ScaledToZero', 'Suspended'];
const page = readFileSync(join(ROOT, 'docs/operate/conditions.md'), 'utf8');
const reasons = wordsOf(/<!-- reasons -->([\s\S]*?)<!-- \/reasons -->/.exec(page)?.[1] ?? '', /^\| `(\w+)` \|/gm);

/** Returns the health that Argo CD must show: Degraded where only a person can help, Progressing where the reason passes. */
const expected = (reason: string): string =>
  SUSPENDED.includes(reason) ? 'Suspended' : PROGRESSING.includes(reason) ? 'Progressing' : 'Degraded';

test.each(reasons)('reason %s has the right health in all three kinds', async (reason) => {
  const healths = [
    await tenantAfter('DatabaseReady', failing(reason)),
    await scopedAfter('LtiRegistration', reason, false),
    // A reason that passes without help is never Stalled.
    await scopedAfter('Webhook', reason, !PROGRESSING.includes(reason)),
  ].map((resource) => healthOf(resource).status);

  expect(healths).toEqual(Array.from({ length: 3 }, () => expected(reason)));
});

test('a rollout that cannot go on is degraded', async () => {
  expect(healthOf(await tenantAfter('WorkloadAvailable', failing('RolloutFailed', true))).status).toBe('Degraded');
});

test('every reason of the script is one that the operator gives', () => {
  const named = wordsOf(SCRIPT, /^ {2}(\w+) = true,$/gm);

  expect(named).toEqual([...PROGRESSING, ...SUSPENDED].toSorted());
  expect(named.filter((name) => !reasons.includes(name))).toEqual([]);
});
