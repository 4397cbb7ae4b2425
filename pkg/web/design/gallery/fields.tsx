import { useState } from 'preact/hooks';
import { Checkbox, RadioGroup } from '../checkbox.tsx';
import { PasswordField } from '../password-field.tsx';
import { Select } from '../select.tsx';
import { Switch } from '../switch.tsx';
import { TextArea, TextField } from '../text-field.tsx';

export function Fields() {
  const [text, setText] = useState('Lecture notes');
  const [password, setPassword] = useState('correct horse');
  const [level, setLevel] = useState<'read' | 'write' | 'admin'>('read');
  const [isOn, setOn] = useState(true);
  const [isChecked, setChecked] = useState(true);
  return (
    <div class="gallery-columns">
      <TextField label="Name" value={text} onValue={setText} hint="Shown to everybody in the folder." />
      <TextField label="Name of the link" value="a/b" onValue={setText} error="A name has no slash. Use another sign." />
      <TextField
        label="Search"
        icon="search"
        type="search"
        placeholder="Search files"
        value={text}
        onValue={setText}
        clearLabel="Empty the search"
      />
      <TextField label="Owner" value="Ada Okafor" onValue={setText} disabled />
      <PasswordField
        label="Password"
        autocomplete="current-password"
        value={password}
        onValue={setPassword}
        showLabel="Show the password"
        hideLabel="Hide the password"
      />
      <Select
        label="Access"
        value={level}
        onValue={setLevel}
        options={[
          { value: 'read', label: 'May read' },
          { value: 'write', label: 'May write' },
          { value: 'admin', label: 'May share' },
        ]}
      />
      <TextArea label="Note" value="Week 3 is missing." onValue={setText} hint="Up to 500 letters." />
      <div>
        <Checkbox label="Notify by mail" isChecked={isChecked} onChange={setChecked} hint="Once a day at most." />
        <br />
        <Checkbox label="Some of it" isChecked={false} isMixed onChange={setChecked} />
        <br />
        <Checkbox label="Not now" isChecked disabled onChange={setChecked} />
        <br />
        <Switch label="Allow uploads" isOn={isOn} onChange={setOn} />
        <br />
        <Switch label="Require a password" isOn={!isOn} onChange={(value) => setOn(!value)} />
      </div>
      <RadioGroup
        legend="When a name is taken"
        value={level}
        onValue={setLevel}
        options={[
          { value: 'read', label: 'Keep both', hint: 'The new file gets a number.' },
          { value: 'write', label: 'Replace', hint: 'The old content stays as a version.' },
          { value: 'admin', label: 'Skip' },
        ]}
      />
    </div>
  );
}
