import { useId } from 'preact/hooks'
import { type AgentDescription, reasoningEfforts } from '../../contracts/index.ts'
import { grouped } from '../../view/index.ts'
import { type SettingName, settingFields, settingProblem, settingsFor, type TypedSettings } from '../state/turn-settings.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { usePopover } from '../ui/use-popover.ts'

/** The settings of the agent, or of a session that has its own. */
export type CurrentSettings = Pick<AgentDescription, 'models' | 'limits' | 'parameters'>

interface TurnOptionsProps {
  readonly agent: AgentDescription
  readonly current: CurrentSettings
  readonly typed: TypedSettings
  onChange(typed: TypedSettings): void
}

export function TurnOptions(props: TurnOptionsProps) {
  const { box, isOpen, toggle, close } = usePopover('select, input')
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the fields inside
    <div
      ref={box}
      onKeyDown={(event) => {
        const isDone = event.key === 'Escape' || (event.key === 'Enter' && !(event.target instanceof HTMLButtonElement))
        if (!isOpen || !isDone) return
        event.stopPropagation()
        event.preventDefault()
        close()
      }}
    >
      <IconButton icon="settings" label="Settings for the next turn" isPressed={isOpen} onClick={toggle} />
      {isOpen && (
        <div class="menu turn-options stack box" role="dialog" aria-label="Settings for the next turn">
          {settingsFor(props.agent).map((name) => (
            <Setting key={name} {...props} name={name} />
          ))}
          <p class="muted small">
            They are sent with the next message and apply from the next turn on, until you change them. A budget can only be lower than that
            of the agent.
          </p>
        </div>
      )}
    </div>
  )
}

function Setting({ current, typed, onChange, name }: TurnOptionsProps & { readonly name: Exclude<SettingName, 'model'> }) {
  const id = useId()
  const value = typed[name] ?? ''
  const problem = settingProblem(name, value)
  const set = (next: string): void => onChange({ ...typed, [name]: next })
  const choices = name === 'reasoning' ? reasoningEfforts : undefined
  return (
    <div class="turn-option">
      <label for={id}>{settingFields[name].label}</label>
      {choices ? (
        <select id={id} class="field" value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
          <option value="">{currentText(current, name)}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          class="field"
          inputMode="decimal"
          placeholder={currentText(current, name)}
          value={value}
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}-problem`}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
      <span id={`${id}-problem`} class="turn-problem tone-error small">
        {problem}
      </span>
    </div>
  )
}

function currentText({ limits, parameters }: CurrentSettings, name: Exclude<SettingName, 'model'>): string {
  switch (name) {
    case 'maxTokens':
      return limits.maxTokens === undefined ? 'no limit' : grouped(limits.maxTokens)
    case 'maxCostUsd':
      return limits.maxCostUsd === undefined ? 'no limit' : String(limits.maxCostUsd)
    case 'timeBudget':
      return limits.timeBudget === undefined ? 'no limit' : String(limits.timeBudget / 1_000)
    default:
      return String(parameters[name] ?? 'default')
  }
}
