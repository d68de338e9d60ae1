import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { grouped, timeText } from '../../view/index.ts'
import type { ServerStatus } from '../api/documents.ts'
import { ShortcutList } from '../shell/shortcuts.tsx'
import { TokenDialog } from '../shell/token-dialog.tsx'
import { usePage } from '../state/page.ts'
import type { Settings } from '../state/settings.ts'
import { Facts } from '../ui/facts.tsx'
import { PaneHead } from '../ui/pane-head.tsx'

/** Settings of this browser, and what the server knows of its user. */
export function SettingsPage() {
  const page = usePage()
  const { value: status } = page.status
  return (
    <>
      <PaneHead title="Settings" />
      <div class="page">
        <div class="page-column settings">
          <Group title="Appearance">
            <Choice name="theme" label="Theme" options={['system', 'light', 'dark']} />
            <Choice name="density" label="Density" options={['comfortable', 'compact']} />
          </Group>
          <Group title="Access">
            <Access />
            {status?.budget && <Budget budget={status.budget} />}
          </Group>
          <Group title="Keyboard">
            <label class="line">
              <input
                type="checkbox"
                checked={page.settings.value.hasLetterKeys}
                onChange={({ currentTarget }) => page.set({ hasLetterKeys: currentTarget.checked })}
              />
              Single-letter shortcuts
            </label>
            <ShortcutList />
          </Group>
          <Group title="About">
            <p>
              Troupe {status?.version} · <a href="/docs">API reference</a>
            </p>
          </Group>
        </div>
      </div>
    </>
  )
}

function Group({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="page-card settings-group" aria-label={title}>
      <h2 class="page-card-title">{title}</h2>
      {children}
    </section>
  )
}

interface ChoiceProps<Name extends 'theme' | 'density'> {
  readonly name: Name
  readonly label: string
  readonly options: readonly Settings[Name][]
}

function Choice<Name extends 'theme' | 'density'>({ name, label, options }: ChoiceProps<Name>) {
  const page = usePage()
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option}>
          <input type="radio" name={name} checked={page.settings.value[name] === option} onChange={() => page.set({ [name]: option })} />
          <span>{option}</span>
        </label>
      ))}
    </fieldset>
  )
}

function Access() {
  const page = usePage()
  const [isReplacing, setReplacing] = useState(false)
  const { value: status } = page.status
  return (
    <>
      {status && (
        <Facts
          facts={[
            ['You are', status.principal.name ?? status.principal.id],
            ['Scopes', status.scopes.join(', ')],
          ]}
        />
      )}
      <p class="muted small">The token is stored in this browser only.</p>
      <div class="settings-actions">
        <button type="button" class="button" onClick={() => setReplacing(true)}>
          Replace token
        </button>
        <button type="button" class="button button-danger" onClick={() => page.setToken('')}>
          Forget token
        </button>
      </div>
      {isReplacing && <TokenDialog onClose={() => setReplacing(false)} />}
    </>
  )
}

function Budget({ budget }: { readonly budget: NonNullable<ServerStatus['budget']> }) {
  const { tokensPerDay, costUsdPerDay, used, renewsAt } = budget
  const dollars = (amount: number): string => `$${amount.toFixed(2)}`
  return (
    <div class="budget">
      {tokensPerDay !== undefined && <Meter label="Tokens today" used={used.tokens} limit={tokensPerDay} text={grouped} />}
      {costUsdPerDay !== undefined && <Meter label="Cost today" used={used.costUsd} limit={costUsdPerDay} text={dollars} />}
      <p class="muted small">The budget renews at {timeText(Date.parse(renewsAt))}.</p>
    </div>
  )
}

interface MeterProps {
  readonly label: string
  readonly used: number
  readonly limit: number
  text(amount: number): string
}

function Meter({ label, used, limit, text }: MeterProps) {
  const share = limit > 0 ? Math.min(1, used / limit) : 1
  return (
    <div class="meter">
      <span>{label}</span>
      <span class="muted">
        {text(used)} of {text(limit)}
      </span>
      <div class="meter-bar" aria-hidden="true" data-state={share >= 1 ? 'used' : share >= 0.8 ? 'low' : 'good'}>
        <div style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}
