import { pageLanguage } from '../../api/page-language.ts';
import type { PageRequest, PageRoute, WebPages } from '../../api/page.ts';
import { LaunchError } from '../launch-error.ts';
import { canvasConfiguration } from './canvas-configuration.ts';
import type { DynamicRegistration } from './dynamic-registration.service.ts';
import { offerPage, outcomePage } from './registration-pages.ts';
import type { Tool } from './tool-registration.policy.ts';

/**
 * Routes of the page that an LMS opens to register the tool (LTI Dynamic Registration 1.0 §3.2), of its button, and of the
 * configuration for a Canvas that reads one.
 */
export const registrationRoutes = (deps: { registration: DynamicRegistration; tool: Tool; web: WebPages }): PageRoute[] => {
  const { registration, tool, web } = deps;
  const path = '/register/{token}';
  return [
    {
      methods: ['get'],
      path,
      handle: async (request) => {
        const token = request.path['token'] ?? '';
        const offer = await registration.offer(token, {
          configurationUrl: one(request, 'openid_configuration'),
          registrationToken: one(request, 'registration_token'),
        });
        const action = new URL(`${tool.ltiUrl}/register/${token}`).pathname;
        return offerPage(web, offer, { tool, action, language: pageLanguage(request.languages), files: request.files });
      },
    },
    {
      methods: ['post'],
      path,
      handle: async (request) =>
        outcomePage(web, await registration.register(request.path['token'] ?? '', one(request, 'plan')), {
          language: pageLanguage(request.languages),
          files: request.files,
        }),
    },
    {
      methods: ['get'],
      path: '/lti/canvas.json',
      handle: async () => ({
        status: 200,
        body: JSON.stringify(canvasConfiguration(tool)),
        headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300' },
      }),
    },
  ];
};

function one({ parameters }: PageRequest, name: string): string | undefined {
  const values = parameters.get(name) ?? [];
  if (values.length > 1) throw new LaunchError('parameter_repeated', `It is ${name}.`);
  return values[0];
}
