import '../styles/connect.css'
import { useEffect, useState } from 'preact/hooks'
import type { ConnectedKey, ModelOffer, ProviderList } from '../api/documents.ts'
import { attempt } from '../state/actions.ts'
import { connectKey, findModels, type KeyOutcome, needsModel, useModel } from '../state/connect-model.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { PageFrame, PageSection } from './page-frame.tsx'

/** Where the user of this machine connects a model: with a key, or on a server of the machine. */
export function ConnectPage() {
  const page = usePage()
  const [found, setFound] = useState<ProviderList>()
  const [isLooking, setLooking] = useState(false)
  const { connect } = page.status.value ?? {}
  const look = async (): Promise<void> => {
    setLooking(true)
    await attempt(page, async () => setFound(await findModels(page)))
    setLooking(false)
  }
  useEffect(() => {
    if (connect) void look()
  }, [connect !== undefined])
  return (
    <PageFrame title="Connect a model" class="connect">
      {page.status.value && !connect && (
        <p>
          Models are connected on the machine of the server only: open the address that <code>troupe serve</code> printed there.
        </p>
      )}
      {connect && <Intro missing={connect.missing} isNeeded={needsModel(page.status.value)} />}
      {connect && <KeySection found={found} onConnected={() => void look()} />}
      {connect && <LocalSection found={found} isLooking={isLooking} onLook={() => void look()} />}
      {connect && connect.models.length > 0 && <Ready models={connect.models} />}
    </PageFrame>
  )
}

function Intro({ missing, isNeeded }: { readonly missing: readonly string[]; readonly isNeeded: boolean }) {
  const { agents, status } = usePage()
  const [first] = agents.value
  if (missing.length === 0)
    return (
      <p class="muted">
        {status.value?.demo
          ? 'The agents of the demonstration then answer with a real model.'
          : 'Agents use their own models. You can choose another one for a turn, in the menu below each message.'}
      </p>
    )
  return (
    <p>
      {isNeeded ? 'No model can be used yet. Your agents need ' : 'Some agents still need '}
      {missing.map((name, index) => (
        <>
          {index > 0 && ', '}
          <code key={name}>{name}</code>
        </>
      ))}
      . {isNeeded && first && <a href={hashOf({ view: 'new', agent: first.name })}>Continue without a model</a>}
    </p>
  )
}

interface KeySectionProps {
  readonly found: ProviderList | undefined
  onConnected(): void
}

function KeySection({ found, onConnected }: KeySectionProps) {
  const page = usePage()
  const [key, setKey] = useState('')
  const [provider, setProvider] = useState('')
  const [isTesting, setTesting] = useState(false)
  const [outcome, setOutcome] = useState<KeyOutcome>()
  const providers = (found?.providers ?? []).filter(({ variable }) => variable !== undefined)
  const test = async (of: string, anyway = false): Promise<void> => {
    if (isTesting) return
    setTesting(true)
    setOutcome(undefined)
    const next = await connectKey(page, { key, provider: of === '' ? undefined : of, anyway })
    setTesting(false)
    setOutcome(next)
    if (next.kind !== 'connected') return
    setKey('')
    setProvider('')
    onConnected()
  }
  return (
    <PageSection title="Paste a key" level={2}>
      <form
        class="connect-form"
        onSubmit={(event) => {
          event.preventDefault()
          void test(provider)
        }}
      >
        <label class="connect-key stack">
          Key
          <input
            class="field mono"
            type="password"
            autoComplete="off"
            spellcheck={false}
            value={key}
            onInput={({ currentTarget }) => {
              setKey(currentTarget.value)
              setOutcome(undefined)
            }}
          />
        </label>
        <label class="stack">
          Provider
          <select class="field" value={provider} onChange={({ currentTarget }) => setProvider(currentTarget.value)}>
            <option value="">Recognise it by the key</option>
            {providers.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="button button-primary" disabled={isTesting}>
          {isTesting && <Icon name="running" class="spin" />} Test and connect
        </button>
      </form>
      <div role="status" aria-live="polite">
        {outcome?.kind === 'connected' && <Connected connected={outcome.connected} />}
        {outcome?.kind === 'refused' && <Refused outcome={outcome} provider={provider} onTest={(of, anyway) => void test(of, anyway)} />}
      </div>
      <p class="muted small">
        The key is sent to its provider only, which costs nothing. It is stored in <code>{found?.file ?? '~/.ai-agent/.ai-agent.env'}</code>
        , which only you can read, and is not shown again.
      </p>
      <p class="muted small">
        Create a key at{' '}
        {providers.map(({ name, label, keyPage }, index) => (
          <span key={name}>
            {index > 0 && ' · '}
            <a href={keyPage ?? ''} target="_blank" rel="noopener noreferrer">
              {label}
            </a>
          </span>
        ))}
      </p>
    </PageSection>
  )
}

function Connected({ connected: { label, model, notes } }: { readonly connected: ConnectedKey }) {
  const page = usePage()
  return (
    <div class="connect-result banner">
      <p>
        <Icon name="check" class="tone-ok" /> <strong>{label} is connected.</strong> The key works and is stored.
      </p>
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      <button type="button" class="button button-primary" onClick={() => void useModel(page, model)}>
        Use {model}
      </button>
    </div>
  )
}

interface RefusedProps {
  readonly outcome: Extract<KeyOutcome, { readonly kind: 'refused' }>
  readonly provider: string
  onTest(provider: string, anyway?: boolean): void
}

function Refused({ outcome: { message, remedy, owner }, provider, onTest }: RefusedProps) {
  const other = owner?.name
  return (
    <div class="connect-result banner banner-warning">
      <p>
        <Icon name="error" class="tone-error" /> <strong>{message}</strong>
      </p>
      {remedy !== undefined && other === undefined && <p>{remedy}</p>}
      {other !== undefined && (
        <div class="chips">
          <button type="button" class="button button-primary" onClick={() => onTest(other)}>
            Use it for {owner?.label}
          </button>
          <button type="button" class="button" onClick={() => onTest(provider, true)}>
            Test it here anyway
          </button>
        </div>
      )}
    </div>
  )
}

interface LocalSectionProps {
  readonly found: ProviderList | undefined
  readonly isLooking: boolean
  onLook(): void
}

function LocalSection({ found, isLooking, onLook }: LocalSectionProps) {
  const servers = (found?.providers ?? []).filter(({ access }) => access === 'local')
  return (
    <PageSection title="Or use a model on this machine" level={2}>
      <ul class="connect-servers plain-list">
        {servers.map(({ name, label, models, problem }) => (
          <li key={name} class="line">
            <Icon name={models.length > 0 ? 'check' : 'close'} class={models.length > 0 ? 'tone-ok' : 'tone-muted'} />
            <strong>{label}</strong>
            <span class="muted">{models.length > 0 ? `${models.length} ${models.length === 1 ? 'model' : 'models'}` : problem}</span>
          </li>
        ))}
      </ul>
      <div class="chips">
        <button type="button" class="button" disabled={isLooking} onClick={onLook}>
          {isLooking && <Icon name="running" class="spin" />} Look again
        </button>
        <a href="https://ollama.com/download" target="_blank" rel="noopener noreferrer">
          Get Ollama
        </a>
      </div>
    </PageSection>
  )
}

/** What can be used now. */
function Ready({ models }: { readonly models: readonly ModelOffer[] }) {
  const page = usePage()
  return (
    <PageSection title="Ready to use" level={2}>
      <ul class="connect-servers plain-list">
        {models.map(({ model, from }) => (
          <li key={model} class="line">
            <span class="grow truncate">
              {model} <span class="muted small">{from}</span>
            </span>
            <button type="button" class="button button-small" aria-label={`Use ${model}`} onClick={() => void useModel(page, model)}>
              Use
            </button>
          </li>
        ))}
      </ul>
    </PageSection>
  )
}
