import type { PageLanguage } from '../../api/page-language.ts';
import type { WantedRegistration } from './wanted-registration.ts';

type Preset = WantedRegistration['preset'];

interface Product {
  readonly preset: Preset;
  /** The next step of the LMS's administrator once the tool is registered. */
  readonly next: string;
  /** The next step in German; menus of the LMS have their English names. */
  readonly nextInGerman: string;
}

/** Products by the beginning of `product_family_code`, in lower case. */
const PRODUCTS: Readonly<Record<string, Product>> = {
  moodle: {
    preset: 'moodle',
    next:
      'Moodle shows the tool as pending. Activate it: Site administration → Plugins → External tool → Manage tools → ' +
      'Activate.',
    nextInGerman:
      'Moodle zeigt das Tool als ausstehend an. Aktivieren Sie es: ' +
      'Site administration → Plugins → External tool → Manage tools → Activate.',
  },
  canvas: {
    preset: 'canvas',
    next:
      'Canvas asks you to confirm permissions and placements, and to switch the tool on. ' +
      'What you switch off there does not work here.',
    nextInGerman:
      'Canvas bittet Sie, Berechtigungen und Platzierungen zu bestätigen und das Tool einzuschalten. ' +
      'Was Sie dort ausschalten, funktioniert hier nicht.',
  },
  blackboard: {
    preset: 'blackboard',
    next:
      'Add the tool in the Administrator Panel → LTI Tool Providers → Register LTI 1.3 Tool, by its client id, ' +
      'and approve it.',
    nextInGerman:
      'Fügen Sie das Tool unter Administrator Panel → LTI Tool Providers → Register LTI 1.3 Tool mit seiner Client-ID hinzu, ' +
      'und genehmigen Sie es.',
  },
  desire2learn: {
    preset: 'brightspace',
    next:
      'Switch the tool on in Brightspace: Admin Tools → Manage Extensibility → LTI Advantage. ' +
      'Then add a deployment, and share it with the courses.',
    nextInGerman:
      'Schalten Sie das Tool in Brightspace ein: Admin Tools → Manage Extensibility → LTI Advantage. ' +
      'Fügen Sie dann ein Deployment hinzu, und geben Sie es für die Kurse frei.',
  },
  sakai: {
    preset: 'sakai',
    next: 'Sakai lists the tool under External Tools. Approve it there, and add it to a site.',
    nextInGerman: 'Sakai führt das Tool unter External Tools auf. Genehmigen Sie es dort, und fügen Sie es einer Site hinzu.',
  },
};
const ALIASES: Readonly<Record<string, string>> = { d2l: 'desire2learn', brightspace: 'desire2learn' };
const OTHER: Product = {
  preset: 'generic',
  next: 'The LMS may ask its administrator to activate the tool before the first launch.',
  nextInGerman: 'Vielleicht bittet das LMS seine Administration, das Tool vor dem ersten Aufruf zu aktivieren.',
};

function productOf(product: string | null): Product {
  const code = product?.toLowerCase() ?? '';
  const name = [...Object.keys(PRODUCTS), ...Object.keys(ALIASES)].find((one) => code.startsWith(one)) ?? '';
  return PRODUCTS[ALIASES[name] ?? name] ?? OTHER;
}

export const presetOf = (product: string | null): Preset => productOf(product).preset;
/** Returns the next step for the preset that an LtiRegistration has. */
export const nextStepAtPreset = (preset: Preset): string =>
  Object.values(PRODUCTS).find((product) => product.preset === preset)?.next ?? OTHER.next;
export const nextStepOf = (product: string | null, language: PageLanguage = 'en'): string =>
  language === 'de' ? productOf(product).nextInGerman : productOf(product).next;
