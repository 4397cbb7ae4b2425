import { useEffect, useState } from 'preact/hooks';
import type { Session } from '../api/session.ts';
import { Button, LinkButton } from '../design/button.tsx';
import { Field } from '../design/field.tsx';
import { TextArea, TextField } from '../design/text-field.tsx';
import type { Input, Operation } from './operation.ts';
import { Reply, type Received } from './reply.tsx';
import { requestOf } from './request.ts';
import { send } from './send.ts';

interface Props {
  readonly operation: Operation;
  readonly session: Session;
}

/** A form that sends a request of the operation as the person who is signed in, and shows the reply. */
export function TryIt({ operation, session }: Props) {
  const { inputs, body, method } = operation;
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() => valuesAtFirst(inputs));
  const [files, setFiles] = useState<Readonly<Record<string, File>>>({});
  const [json, setJson] = useState(body?.kind === 'json' && body.isRequired ? body.example : '');
  const [bodyFile, setBodyFile] = useState<File>();
  const [isBusy, setBusy] = useState(false);
  const [received, setReceived] = useState<Received>();

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setReceived(await send(requestOf(operation, '/api/v1', { values, files, body: json, bodyFile }), session));
    setBusy(false);
  };

  return (
    <form class="r-try" onSubmit={(event) => void submit(event)}>
      <h3>Try it</h3>
      <SignedInAs session={session} />
      {inputs.map((input) =>
        input.kind === 'file' ? (
          <FileField
            key={input.name}
            label={labelOf(input)}
            isRequired={input.isRequired}
            onFile={(file) => setFiles((former) => withFile(former, input.name, file))}
          />
        ) : (
          <Entry
            key={`${input.in} ${input.name}`}
            input={input}
            value={values[input.name] ?? ''}
            onValue={(value) => setValues((former) => ({ ...former, [input.name]: value }))}
          />
        ),
      )}
      {body?.kind === 'json' && (
        <TextArea
          label="Body (JSON)"
          class="r-code"
          rows={json.split('\n').length + 1}
          value={json}
          onValue={setJson}
          spellcheck={false}
        />
      )}
      {body?.kind === 'file' && <FileField label={`Body (${body.mediaType})`} isRequired={false} onFile={setBodyFile} />}
      <p class="r-send">
        <Button type="submit" kind={method === 'DELETE' ? 'danger' : 'primary'} isBusy={isBusy}>
          {`Send ${method}`}
        </Button>
        {method !== 'GET' && <span>The request is real: it changes what the tenant has.</span>}
      </p>
      <div role="status">{received && <Reply received={received} />}</div>
    </form>
  );
}

/** Required parameters begin with the document's example only where that is no id: an id of the example is nobody's. */
const valuesAtFirst = (inputs: readonly Input[]): Record<string, string> =>
  Object.fromEntries(
    inputs.flatMap(({ name, isRequired, example, in: location }) =>
      isRequired && location !== 'path' && example !== undefined ? [[name, example]] : [],
    ),
  );

const labelOf = ({ name, in: location, isRequired }: Input): string => `${name} (${location}${isRequired ? ', required' : ''})`;

function withFile(former: Readonly<Record<string, File>>, name: string, file: File | undefined): Record<string, File> {
  const { [name]: _former, ...others } = former;
  return file ? { ...others, [name]: file } : others;
}

const HINTS = { list: 'One value a line.', object: 'One key=value a line.', text: undefined, file: undefined };

function Entry({ input, value, onValue }: { input: Input; value: string; onValue: (value: string) => void }) {
  const { kind, isRequired, description } = input;
  const props = {
    label: labelOf(input),
    hint: [description, HINTS[kind]].filter((part) => part !== undefined).join(' ') || undefined,
    value,
    onValue,
    required: isRequired,
    spellcheck: false,
  };
  return kind === 'text' ? <TextField {...props} autocomplete="off" /> : <TextArea {...props} />;
}

interface FileFieldProps {
  readonly label: string;
  readonly isRequired: boolean;
  readonly onFile: (file: File | undefined) => void;
}

const FileField = ({ label, isRequired, onFile }: FileFieldProps) => (
  <Field label={label}>
    {(tied) => (
      <input {...tied} type="file" required={isRequired} onChange={({ currentTarget }) => onFile(currentTarget.files?.[0])} />
    )}
  </Field>
);

/** Says in whose name requests are sent. */
function SignedInAs({ session }: { session: Session }) {
  const [state, setState] = useState(session.state.value);
  useEffect(() => {
    const show = (): void => setState(session.state.value);
    // It may have changed since this was drawn.
    show();
    return session.state.subscribe(show);
  }, [session]);
  if (state.name === 'signed-in')
    return (
      <p>
        Requests are sent as <strong>{state.user.display_name ?? state.user.username}</strong>.
      </p>
    );
  return (
    <p class="r-send">
      <span>
        {state.name === 'starting' ? 'Looking for your session …' : 'Nobody is signed in, so requests are sent without a token.'}
      </span>
      {state.name !== 'starting' && <LinkButton href="/sign-in">Sign in</LinkButton>}
    </p>
  );
}
