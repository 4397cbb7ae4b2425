import { expect, test } from '@jest/globals';
import { NAMESPACE, SECRET, type Secret } from '../../../pkg/kube/kinds.ts';
import { Store } from '../../../pkg/kube/store.ts';
import { Secrets } from '../../../pkg/operator/secrets.ts';
import { unique } from '../../support/cluster/operator.ts';
import { operatorSuite } from '../../support/suites/operator-suite.ts';

const { cluster, namespace } = operatorSuite({ operator: false });

test('an annotation is not set on a Secret that was edited meanwhile, whose edit the answer would hide', async () => {
  const api = cluster.of(SECRET);
  const store = new Store<Secret>({ kind: SECRET });
  const secrets = new Secrets({ api, store, events: { record: () => undefined } });
  const key = { namespace, name: unique() };
  const made = await api.create({ metadata: key, data: {} });
  store.upsert(made);
  store.endList(new Set([`${namespace}/${key.name}`]), made.metadata.resourceVersion);

  await secrets.annotate(key, { 'example.org/one': 'set' });
  await api.patch(key, { data: { edited: 'MQ==' } } as object);
  const late = secrets.annotate(key, { 'example.org/two': 'set' });

  await expect(late).rejects.toMatchObject({ status: 409 });
  expect((await api.get(key)).metadata.annotations).toEqual({ 'example.org/one': 'set' });
});

test('a line end that is left out is said once for each version of the Secret, however often it is read', async () => {
  const api = cluster.of(SECRET);
  const by = await cluster.of(NAMESPACE).get({ namespace: '', name: namespace });
  const notes: string[] = [];
  const events = { record: (_: unknown, __: unknown, { message }: { message: string }) => void notes.push(message) };
  const secrets = new Secrets({ api, store: new Store<Secret>({ kind: SECRET }), events });
  const key = { namespace, name: unique() };
  const reference = {
    by: { ...by, metadata: { ...by.metadata, namespace } },
    kind: SECRET,
    field: 'spec.secretRef',
    name: key.name,
  };
  const said = `spec.secretRef: Secret ${key.name} has a line end at the end of token; it is not part of the value`;

  await api.create({ metadata: key, stringData: { token: 'a\n', pem: 'two\nlines\n', other: 'b' } });
  const values = await secrets.named(reference, ['token']);
  await secrets.named(reference, ['token']);
  await api.patch(key, { stringData: { token: 'c\r\n' } });
  await secrets.named(reference, ['token']);
  await secrets.named(reference, ['token']);
  await api.patch(key, { stringData: { token: 'd' } });
  await secrets.named(reference, ['token']);

  expect(values).toEqual({ token: 'a', pem: 'two\nlines', other: 'b' });
  expect(notes).toEqual([said, said]);
});
