import type { ComponentChildren } from 'preact';
import type { TenantSettings } from '../../../api/operations.generated.ts';
import { t } from '../../../text/tenant.ts';
import { kubectlPatch } from '../kubectl-line.ts';
import { Kubectl } from '../kubectl.tsx';

/** How a setting is changed where Kubernetes manages it. */
interface Change {
  readonly line: string;
  /** The part of the line that somebody replaces. */
  readonly value: string;
  /** True: the resource does not have the setting, and the value is an example. */
  readonly isExample: boolean;
}

/**
 * Returns the change of a setting from its present value, or, where that is null, to an example. Undefined where the server does
 * not know the resource.
 */
export function changeOf<T extends string | number | boolean>(
  { resource }: Pick<TenantSettings, 'resource'>,
  present: T | null,
  specOf: (value: T) => object,
  example?: T,
): Change | undefined {
  const value = present ?? example;
  if (resource === null || value === undefined) return undefined;
  return { line: kubectlPatch('tenant', resource, specOf(value)), value: String(value), isExample: present === null };
}

interface GroupProps {
  /** Of its heading, unique in the page. */
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** Settings that belong together. */
export const Group = ({ id, title, children }: GroupProps) => (
  <section class="tenant-group" aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

interface SettingProps {
  readonly label: string;
  /** What there is to know of it. */
  readonly note?: string | undefined;
  readonly change?: Change | undefined;
  /** What else a change does, or does not do. */
  readonly effect?: string | undefined;
  /** The value. */
  readonly children: ComponentChildren;
}

/** A setting in a list of facts: its value, and the line that changes it. */
export const Setting = ({ label, note, change, effect, children }: SettingProps) => (
  <div class="tenant-setting">
    <dt>{label}</dt>
    <dd>
      {children}
      {note !== undefined && <p class="admin-quiet">{note}</p>}
      {change && (
        <details class="tenant-change">
          <summary>
            {t('change')}
            <span class="c-hidden"> ({label})</span>
          </summary>
          {effect !== undefined && <p>{effect}</p>}
          <p>{t(change.isExample ? 'changeExample' : 'changeText', { value: change.value })}</p>
          <Kubectl line={change.line} />
        </details>
      )}
    </dd>
  </div>
);
