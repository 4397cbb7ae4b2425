import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { endpoint, reply } from '../api/endpoint.ts';
import { createFeatures, type Feature } from './feature.ts';
import type { TenantServices } from './services.ts';

const featureWith = (name: string, method: 'get' | 'delete', path: string): Feature => ({
  name,
  create: () => ({
    endpoints: [
      endpoint({
        method,
        path,
        operationId: name,
        summary: 'Show a thing',
        caller: 'user',
        params: z.object({ id: z.string(), thing: z.string() }).partial(),
        replies: { 200: z.object({}) },
        handle: async () => reply(200, {}),
      }),
    ],
  }),
});
const create = (...features: Feature[]) => createFeatures(features, {} as TenantServices);

test('two features that declare one endpoint are refused with both names, whatever they call its parameters', () => {
  expect(() => create(featureWith('polls', 'get', '/things/{id}'), featureWith('votes', 'get', '/things/{thing}'))).toThrow(
    'the features polls and votes both declare GET /things/{}',
  );
});

test('one path with two methods is two endpoints', () => {
  expect(
    create(featureWith('polls', 'get', '/things/{id}'), featureWith('votes', 'delete', '/things/{id}')).endpoints,
  ).toHaveLength(2);
});
