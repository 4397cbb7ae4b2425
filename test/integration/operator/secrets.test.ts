import { expect, test } from '@jest/globals';
import { SECRET, type Secret } from '../../../pkg/kube/kinds.ts';
import { Store } from '../../../pkg/kube/store.ts';
import { Secrets } from '../../../pkg/operator/secrets.ts';
import { unique } from '../../support/operator.ts';
import { operatorSuite } from '../../support/operator-suite.ts';

const { cluster, namespace } = operatorSuite({ operator: false });

test('an annotation is not set on a Secret that was edited meanwhile, whose edit the answer would hide', async () => {
  const api = cluster.of(SECRET);
  const store = new Store<Secret>({ kind: SECRET });
  const secrets = new Secrets({ api, store });
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
