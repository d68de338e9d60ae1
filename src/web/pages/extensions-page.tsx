import { useEffect, useState } from 'preact/hooks'
import type { ExtensionStatus } from '../api/documents.ts'
import { watchExtensions } from '../state/extensions.ts'
import { usePage } from '../state/page.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { PaneHead } from '../ui/pane-head.tsx'

type State = ExtensionStatus['state']

const states: { readonly [Each in State]: { readonly icon: IconName; readonly tone: string } } = {
  running: { icon: 'check', tone: 'ok' },
  failed: { icon: 'close', tone: 'error' },
  quarantined: { icon: 'error', tone: 'error' },
  untrusted: { icon: 'approval', tone: 'warning' },
  disabled: { icon: 'pause', tone: 'muted' },
}

/** The extensions of the kernel, as they are now. */
export function ExtensionsPage() {
  const page = usePage()
  const [wanted, setWanted] = useState<State | undefined>()
  useEffect(() => watchExtensions(page), [])
  const { value: extensions } = page.extensions
  const shown = (extensions ?? []).filter(({ state }) => wanted === undefined || state === wanted)
  const present = (Object.keys(states) as State[]).filter((state) => state === wanted || extensions?.some((each) => each.state === state))
  return (
    <>
      <PaneHead title="Extensions" />
      <div class="page">
        <div class="page-column">
          {present.length > 1 && (
            // biome-ignore lint/a11y/useSemanticElements: buttons that filter, not fields of a form
            <div class="chips state-filter" role="group" aria-label="Filter by state">
              {[undefined, ...present].map((state) => (
                <button key={state ?? 'all'} type="button" class="chip" aria-pressed={state === wanted} onClick={() => setWanted(state)}>
                  {state ?? 'all'}{' '}
                  <span class="muted">{extensions?.filter((each) => state === undefined || each.state === state).length}</span>
                </button>
              ))}
            </div>
          )}
          <ul class="plain-list page-cards">
            {shown.map((extension) => (
              <ExtensionCard key={extension.id} extension={extension} />
            ))}
          </ul>
          {extensions && shown.length === 0 && (
            <p class="muted">
              {wanted === undefined ? (
                <>
                  No extensions are loaded. Write one with <code>troupe extensions new</code>.
                </>
              ) : (
                `No extension is ${wanted}.`
              )}
            </p>
          )}
        </div>
      </div>
    </>
  )
}

const places = { kernel: 'runs in the kernel', sandbox: 'runs in a sandbox', nowhere: 'does not run' } as const

function ExtensionCard({ extension }: { readonly extension: ExtensionStatus }) {
  const { id, name, version, description, state, source, runs, trusted, capabilities, health, problems } = extension
  const { icon, tone } = states[state]
  const fix = fixOf(extension)
  return (
    <li class="page-card" aria-label={name}>
      <div class="page-card-head">
        <h2 class="page-card-title truncate" title={id}>
          {name}
        </h2>
        <span class="muted small">{version}</span>
        <span class={`badge tone-${tone}`}>
          <Icon name={icon} /> {state}
        </span>
      </div>
      <p>{description}</p>
      <p class="muted small">
        {[id, source, places[runs], trusted ? 'trusted' : 'not trusted', ...(health?.healthy ? ['healthy'] : [])].join(' · ')}
      </p>
      {capabilities.length > 0 && (
        <ul class="chips plain-list" aria-label="Capabilities">
          {capabilities.map((capability) => (
            <li key={capability} class="chip mono">
              {capability}
            </li>
          ))}
        </ul>
      )}
      {health && !health.healthy && <p class="problem tone-error">Not healthy{health.message ? `: ${health.message}` : '.'}</p>}
      {problems.map(({ place, message, remedy }) => (
        <div key={`${place} ${message}`} class="problem">
          <code>{place}</code> {message}
          {remedy && !(fix && remedy.includes(fix.command)) && <div class="muted">{remedy}</div>}
        </div>
      ))}
      {fix && (
        <div class="problem">
          {fix.reason}
          <div class="fix line">
            <code>{fix.command}</code>
            <CopyButton text={fix.command} />
          </div>
        </div>
      )}
    </li>
  )
}

interface Fix {
  readonly reason: string
  readonly command: string
}

function fixOf({ id, state }: ExtensionStatus): Fix | undefined {
  if (state === 'quarantined')
    return {
      reason: 'It stopped the kernel, so it is not loaded until its files change or you enable it:',
      command: `troupe extensions enable ${id}`,
    }
  if (state === 'untrusted') return { reason: 'Review its files, then trust them:', command: `troupe extensions trust ${id}` }
  return state === 'disabled' ? { reason: 'To load it:', command: `troupe extensions enable ${id}` } : undefined
}
