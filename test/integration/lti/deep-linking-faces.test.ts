import { expect, test } from '@jest/globals';
import { CONTENT_REQUESTS } from '../../support/lms/content-requests.ts';
import { lmsSuite } from '../../support/lms/lms-suite.ts';
import { delivered, picking } from '../../support/lms/picked.ts';

const { tenant, at } = lmsSuite();

test.each(CONTENT_REQUESTS.map((request) => [request.face, request.where, request] as const))(
  '%s asks for content in %s, and gets what it accepts there, with its data as it was',
  async (_face, _where, { settings, roles, offered }) => {
    const picker = await picking(tenant, at, settings, { roles });
    const { body: file } = await picker.api.upload('/files', { file: Buffer.from('Hello.'), name: 'hello.txt' });
    const { types, multiple, line_items } = (await picker.show()).body;
    const type = offered.types[0];
    const graded = line_items ? { line_item: { score_maximum: 10 } } : {};

    const returned = await delivered(at, await picker.answer([{ type, file_id: file.id, ...graded }]));

    expect({ types, multiple, line_items }).toEqual(offered);
    const data = 'data' in settings ? settings['data'] : '_48076_1::{"a": "ü"} %2F';
    expect([returned.method, returned.data, returned.items.map((item) => item.type)]).toEqual(['POST', data, [type]]);
    expect(returned.items[0]?.lineItem).toEqual(line_items ? { label: 'hello.txt', scoreMaximum: 10 } : undefined);
  },
);

test.each(CONTENT_REQUESTS.map((request) => [request.face, request.where, request] as const))(
  '%s asks for content in %s, and gets an empty list when the person cancels',
  async (_face, _where, { settings, roles }) => {
    const picker = await picking(tenant, at, settings, { roles });

    expect((await delivered(at, await picker.answer([]))).items).toEqual([]);
  },
);
