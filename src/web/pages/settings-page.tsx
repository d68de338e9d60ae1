import { useState } from 'preact/hooks'
import { grouped, timeText } from '../../view/index.ts'
import type { ServerStatus } from '../api/documents.ts'
import { ShortcutList } from '../commands/shortcuts.tsx'
import { hashOf } from '../state/hash-route.ts'
import { askToNotify, type NotificationAbility, notificationAbility } from '../state/notifications.ts'
import { usePage } from '../state/page.ts'
import type { Settings } from '../state/settings.ts'
import { type Fact, Facts } from '../ui/facts.tsx'
import { TokenDialog } from '../ui/token-dialog.tsx'
import { PageFrame, PageSection } from './page-frame.tsx'

/** Settings of this browser, and what the server knows of its user. */
export function SettingsPage() {
  const page = usePage()
  const { value: status } = page.status
  return (
    <PageFrame title="Settings" class="settings">
      <PageSection title="Appearance" level={2}>
        <Choice name="theme" label="Theme" options={['system', 'light', 'dark']} />
        <Choice name="density" label="Density" options={['comfortable', 'compact']} />
      </PageSection>
      <PageSection title="Access" level={2}>
        {status && (
          <Facts
            facts={[
              ['You are', status.principal.name ?? status.principal.id],
              ['Scopes', status.scopes.join(', ')],
              ...budgetFacts(status.budget),
            ]}
          />
        )}
        <TokenActions />
      </PageSection>
      {status?.connect && (
        <PageSection title="Models" level={2}>
          <p>
            {status.connect.models.length === 0
              ? 'No key and no local server was found. '
              : `Can be used: ${status.connect.models.map(({ model }) => model).join(', ')}. `}
            <a href={hashOf({ view: 'connect' })}>Connect a model</a>
          </p>
        </PageSection>
      )}
      <PageSection title="Notifications" level={2}>
        <NotificationChoice />
      </PageSection>
      <PageSection title="Keyboard" level={2}>
        <label class="line">
          <input
            type="checkbox"
            checked={page.settings.value.hasLetterKeys}
            onChange={({ currentTarget }) => page.set({ hasLetterKeys: currentTarget.checked })}
          />
          Single-letter shortcuts
        </label>
        <ShortcutList />
      </PageSection>
      <PageSection title="About" level={2}>
        <p>
          Troupe {status?.version} · <a href="docs">API reference</a>
        </p>
      </PageSection>
    </PageFrame>
  )
}

function NotificationChoice() {
  const { settings, set } = usePage()
  const [ability, setAbility] = useState(notificationAbility)
  const { notifies } = settings.value
  const choose = async (wanted: boolean): Promise<void> => {
    const answer = wanted ? await askToNotify() : ability
    setAbility(answer)
    set({ notifies: wanted && answer === 'granted' })
  }
  return (
    <>
      <label class="line">
        <input
          type="checkbox"
          checked={notifies && ability === 'granted'}
          disabled={ability === 'missing'}
          onChange={({ currentTarget }) => void choose(currentTarget.checked)}
        />
        Desktop notifications when a session waits for you or ends
      </label>
      <p class="muted small" role="status">
        {abilityTexts[ability]}
      </p>
    </>
  )
}

const abilityTexts: { readonly [Ability in NotificationAbility]: string } = {
  granted: 'They come only while this page is open and hidden, such as in another tab. A click opens the session.',
  default: 'The browser asks first. They come only while this page is open and hidden.',
  denied: 'The browser blocks notifications of this page. Allow them in its settings for this address, then try again.',
  missing: 'This browser shows none here. It needs HTTPS or a loopback address.',
}

interface ChoiceProps<Name extends 'theme' | 'density'> {
  readonly name: Name
  readonly label: string
  readonly options: readonly Settings[Name][]
}

function Choice<Name extends 'theme' | 'density'>({ name, label, options }: ChoiceProps<Name>) {
  const page = usePage()
  return (
    <fieldset class="choice chips">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option} class="chip">
          <input
            class="visually-hidden"
            type="radio"
            name={name}
            checked={page.settings.value[name] === option}
            onChange={() => page.set({ [name]: option })}
          />
          {option}
        </label>
      ))}
    </fieldset>
  )
}

function TokenActions() {
  const page = usePage()
  const [isReplacing, setReplacing] = useState(false)
  return (
    <div class="chips">
      <button type="button" class="button" onClick={() => setReplacing(true)}>
        Replace token
      </button>
      <button type="button" class="button button-danger" onClick={() => page.setToken('')}>
        Forget token
      </button>
      <span class="muted small">The token is stored in this browser only.</span>
      {isReplacing && <TokenDialog onClose={() => setReplacing(false)} />}
    </div>
  )
}

function budgetFacts(budget: ServerStatus['budget']): readonly Fact[] {
  if (!budget) return []
  const { tokensPerDay, costUsdPerDay, used, renewsAt } = budget
  return [
    ['Tokens today', tokensPerDay !== undefined && `${grouped(used.tokens)} of ${grouped(tokensPerDay)}`],
    ['Cost today', costUsdPerDay !== undefined && `$${used.costUsd.toFixed(2)} of $${costUsdPerDay.toFixed(2)}`],
    ['Budget renews', timeText(Date.parse(renewsAt))],
  ].filter((fact): fact is [string, string] => fact[1] !== false)
}
