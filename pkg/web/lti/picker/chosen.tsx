import { useRef } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import '../../design/field.css';
import { FileIcon } from '../../design/file-icon.tsx';
import type { Refusal } from '../entry/messages.ts';
import { RefusalNote } from '../entry/notes.tsx';
import type { PickerView } from './api.ts';
import { arePoints, type Choice, type ItemType, typesOf } from './choices.ts';
import { count, t } from '../../text/lti.ts';

interface Props {
  readonly view: PickerView;
  readonly choices: readonly Choice[];
  readonly isSending: boolean;
  readonly refusal: Refusal | undefined;
  readonly onChange: (choice: Choice) => void;
  readonly onRemove: (choice: Choice) => void;
  readonly onAdd: () => void;
  readonly onCancel: () => void;
}

/** The chosen files, the type in which the LMS gets each, and the two ways back. */
export function Chosen({ view, choices, isSending, refusal, onChange, onRemove, onAdd, onCancel }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  /** The pressed button disappears; without this the keyboard focus would move to the top of the page. */
  const remove = (choice: Choice): void => {
    heading.current?.focus();
    onRemove(choice);
  };
  const areRight = choices.every(({ points }) => arePoints(points));
  const submit = (event: Event): void => {
    event.preventDefault();
    onAdd();
  };
  const number = choices.length;
  return (
    <>
      <form id="chosen" class="chosen" aria-labelledby="chosen-heading" onSubmit={submit}>
        <h2 id="chosen-heading" ref={heading} tabIndex={-1}>
          {t('picker.chosenFiles')}
        </h2>
        {number === 0 ? (
          <p>{t('picker.noneYet')}</p>
        ) : (
          <ul aria-label={t('picker.chosenList')}>
            {choices.map((choice) => (
              <ChosenRow key={choice.file.id} view={view} choice={choice} onChange={onChange} onRemove={remove} />
            ))}
          </ul>
        )}
      </form>
      <div class="actions" role="group" aria-label={t('picker.answer')}>
        {refusal && <RefusalNote refusal={refusal} />}
        <Button type="submit" kind="primary" form="chosen" disabled={isSending || number === 0 || !areRight}>
          {number === 0 ? t('picker.add') : count('addFiles', number)}
        </Button>
        <Button disabled={isSending} onClick={onCancel}>
          {t('picker.cancel')}
        </Button>
        <p role="status">{isSending ? t('picker.sending') : count('chosen', number)}</p>
      </div>
    </>
  );
}

interface RowProps extends Pick<Props, 'view' | 'onChange' | 'onRemove'> {
  readonly choice: Choice;
}

function ChosenRow({ view, choice, onChange, onRemove }: RowProps) {
  const { file, type, points } = choice;
  const types = typesOf(file, view);
  return (
    <li>
      <FileIcon mimeType={file.mime_type} name={file.name} />
      <span class="name">{file.name}</span>
      {types.length > 1 ? (
        <label>
          {t('picker.addAs')}{' '}
          <select
            class="c-input"
            aria-label={t('picker.addAsOf', { name: file.name })}
            value={type}
            onChange={(event) => onChange({ ...choice, type: event.currentTarget.value as ItemType })}
          >
            {types.map((each) => (
              <option key={each} value={each}>
                {t(`type.${each}`)}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <span class="facts">{t(`type.${type}`)}</span>
      )}
      {view.line_items && type === 'ltiResourceLink' && (
        <label>
          {t('picker.pointsLabel')}{' '}
          <input
            type="text"
            class="c-input"
            inputMode="decimal"
            size={5}
            aria-label={t('picker.pointsOf', { name: file.name })}
            aria-invalid={!arePoints(points)}
            value={points}
            onInput={(event) => onChange({ ...choice, points: event.currentTarget.value })}
          />
        </label>
      )}
      <Button size="s" kind="quiet" aria-label={t('picker.removeOf', { name: file.name })} onClick={() => onRemove(choice)}>
        {t('picker.remove')}
      </Button>
    </li>
  );
}
