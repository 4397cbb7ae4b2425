import { apertium } from '../../pkg/helpers/translator/apertium.ts';
import { azure } from '../../pkg/helpers/translator/azure.ts';
import { deepl } from '../../pkg/helpers/translator/deepl.ts';
import { dictionary } from '../../pkg/helpers/translator/dictionary.ts';
import { google } from '../../pkg/helpers/translator/google.ts';
import { libretranslate } from '../../pkg/helpers/translator/libretranslate.ts';
import type { Provider } from '../../pkg/helpers/translator/provider.ts';
import type { HelpersConfig, ProviderName } from './config.ts';
import { programOnPath } from './programs.ts';

/** Returns the translators of the settings, in their order, without those that have no key or address. */
export function configuredProviders(config: HelpersConfig): Provider[] {
  const make: Record<ProviderName, () => Provider | undefined> = {
    google: () =>
      config.CARREL_GOOGLE_TRANSLATE_KEY
        ? google({ key: config.CARREL_GOOGLE_TRANSLATE_KEY, url: config.CARREL_GOOGLE_TRANSLATE_URL })
        : undefined,
    azure: () => azureOf(config),
    deepl: () => (config.CARREL_DEEPL_KEY ? deepl({ key: config.CARREL_DEEPL_KEY, url: config.CARREL_DEEPL_URL }) : undefined),
    libretranslate: () =>
      config.CARREL_LIBRETRANSLATE_URL
        ? libretranslate({ key: config.CARREL_LIBRETRANSLATE_KEY, url: config.CARREL_LIBRETRANSLATE_URL })
        : undefined,
    apertium: () => (programOnPath('apertium') === undefined ? undefined : apertium),
    dictionary: () => dictionary,
  };
  return config.CARREL_HELPERS_PROVIDERS.flatMap((name) => make[name]() ?? []);
}

function azureOf(config: HelpersConfig): Provider | undefined {
  const { CARREL_AZURE_TRANSLATOR_KEY: key, CARREL_AZURE_TRANSLATOR_REGION: region, CARREL_AZURE_TRANSLATOR_URL: url } = config;
  return key ? azure({ key, region, url }) : undefined;
}
