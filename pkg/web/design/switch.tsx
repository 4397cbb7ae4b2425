import type { ComponentChildren } from 'preact';
import './switch.css';

interface Props {
  readonly label: ComponentChildren;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly disabled?: boolean | undefined;
}

/** On or off, which takes effect at once. In a form that is sent, use a Checkbox. */
export const Switch = ({ label, isOn, onChange, disabled = false }: Props) => (
  <label class="c-switch">
    <input
      type="checkbox"
      role="switch"
      class="c-switch-track"
      checked={isOn}
      disabled={disabled}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    <span>{label}</span>
  </label>
);
