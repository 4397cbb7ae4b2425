import { useRef } from 'preact/hooks';
import type { Refusal } from '../entry/messages.ts';
import { RefusalNote } from '../entry/notes.tsx';
import type { PickerView } from './api.ts';
import { arePoints, type Choice, countInWords, type ItemType, TYPE_WORDS, typesOf } from './choices.ts';

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

/** What is chosen, as what the LMS gets each, and the two ways back. */
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
  const count = choices.length;
  return (
    <>
      <form id="chosen" class="chosen" aria-labelledby="chosen-heading" onSubmit={submit}>
        <h2 id="chosen-heading" ref={heading} tabIndex={-1}>
          Chosen files
        </h2>
        {count === 0 ? (
          <p>None yet.</p>
        ) : (
          <ul aria-label="Chosen">
            {choices.map((choice) => (
              <ChosenRow key={choice.file.id} view={view} choice={choice} onChange={onChange} onRemove={remove} />
            ))}
          </ul>
        )}
      </form>
      <div class="actions" role="group" aria-label="Answer">
        {refusal && <RefusalNote refusal={refusal} />}
        <button type="submit" form="chosen" disabled={isSending || count === 0 || !areRight}>
          {count === 0 ? 'Add' : `Add ${countInWords(count)}`}
        </button>
        <button type="button" disabled={isSending} onClick={onCancel}>
          Cancel
        </button>
        <p role="status">{isSending ? 'Sending …' : `${countInWords(count)} chosen`}</p>
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
      <span class="name">{file.name}</span>
      {types.length > 1 ? (
        <label>
          Add as{' '}
          <select
            aria-label={`Add ${file.name} as`}
            value={type}
            onChange={(event) => onChange({ ...choice, type: event.currentTarget.value as ItemType })}
          >
            {types.map((each) => (
              <option key={each} value={each}>
                {TYPE_WORDS[each]}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <span class="facts">{TYPE_WORDS[type]}</span>
      )}
      {view.line_items && type === 'ltiResourceLink' && (
        <label>
          Points, if graded{' '}
          <input
            type="text"
            inputMode="decimal"
            size={5}
            aria-label={`Points for ${file.name}, if graded`}
            aria-invalid={!arePoints(points)}
            value={points}
            onInput={(event) => onChange({ ...choice, points: event.currentTarget.value })}
          />
        </label>
      )}
      <button type="button" aria-label={`Remove ${file.name}`} onClick={() => onRemove(choice)}>
        Remove
      </button>
    </li>
  );
}
