import { expect, test } from '@jest/globals';
import { PUBLIC_RANGES } from '../../../pkg/net/private-address.ts';
import { CLUSTER_RIGHTS } from '../../../pkg/operator/rights.ts';
import { type ChartObject, LEAST, MOST, render, type Rendered } from '../../support/cluster/chart.ts';

/** `helm template` renders these values without a cluster. */
const least = render(LEAST);
const most = render(MOST);

interface Policy {
  readonly egress: { ports?: { port?: number; protocol: string }[]; to?: { ipBlock: object }[] }[];
  readonly ingress: { ports: { port: number }[]; from?: unknown[] }[];
}

const operatorPolicy = (rendered: Rendered, name: string): Policy =>
  (rendered.one('NetworkPolicy', name) as ChartObject & { spec: Policy }).spec;
const portsAnywhere = ({ egress }: Policy): string[] =>
  egress.flatMap(({ ports = [], to }) => (to ? [] : ports.map(({ port, protocol }) => `${port}/${protocol}`)));

test('the operator may connect only to DNS, the API server, the configured stores and tenants’ storage', async () => {
  const spec = operatorPolicy(await most, 'files-operator');
  const otherRedis = await render({ ...LEAST, networkPolicy: { redisPorts: [6380, 16380] } });

  expect(portsAnywhere(spec)).toEqual([
    '53/UDP',
    '53/TCP',
    '443/TCP',
    '6443/TCP',
    '5432/TCP',
    '6380/TCP',
    '9000/TCP',
    '9001/TCP',
    '9443/TCP',
  ]);
  expect(spec.egress.filter(({ to }) => to)).toEqual([
    {
      ports: [{ protocol: 'TCP' }],
      to: [...PUBLIC_RANGES, ...MOST.tenants.egressAllow.map((cidr) => ({ cidr }))].map((ipBlock) => ({ ipBlock })),
    },
  ]);
  expect(portsAnywhere(operatorPolicy(otherRedis, 'carrel-operator'))).toEqual(expect.arrayContaining(['6380/TCP', '16380/TCP']));
  expect(spec.ingress.map(({ ports, from }) => [ports[0]?.port, from])).toEqual([
    [9090, MOST.networkPolicy.metricsFrom],
    [8081, MOST.networkPolicy.ingressControllers],
  ]);
});

test('without a named Ingress controller, one in the nodes’ network reaches the answers for suspended tenants', async () => {
  const { ingress } = operatorPolicy(await least, 'carrel-operator');

  expect(ingress.map(({ ports, from }) => [ports[0]?.port, from])).toEqual([
    [9090, [{ namespaceSelector: {} }]],
    [8081, undefined],
  ]);
});

test('with named namespaces the operator has its rights in these, and of the cluster it reads only them', async () => {
  interface Rules {
    readonly rules: { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[];
  }
  const rightsOf = ({ rules }: Rules) =>
    new Map(
      rules.flatMap(({ apiGroups: [group], resources, verbs }) =>
        resources.map((resource): [string, string[]] => [`${group}/${resource}`, verbs.toSorted()]),
      ),
    );
  const roles = (await most).all<ChartObject & Rules>('Role').filter(({ metadata }) => metadata.name === 'files-operator');
  const [ofCluster] = (await most).all<ChartObject & Rules>('ClusterRole');
  const wanted = new Map([...CLUSTER_RIGHTS].map(([resource, verbs]) => [resource, verbs.toSorted()]));
  wanted.delete('/namespaces');

  expect(roles.map(({ metadata }) => metadata.namespace)).toEqual(['schools', 'faculty']);
  for (const role of roles) expect(rightsOf(role)).toEqual(wanted);
  expect(ofCluster?.rules).toEqual([
    { apiGroups: [''], resources: ['namespaces'], resourceNames: ['schools', 'faculty'], verbs: ['list', 'watch'] },
  ]);
  expect((await most).environment('files-operator')['CARREL_TENANT_NAMESPACES']).toBe('schools,faculty');
});
