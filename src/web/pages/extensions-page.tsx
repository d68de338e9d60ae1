import type { ExtensionStatus } from '../../contracts/index.ts'
import { asSentence } from '../../util/as-sentence.ts'
import { usePage } from '../state/page.ts'
import { untrustedText } from '../ui/agent-facts.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { PageFrame } from './page-frame.tsx'

interface StateView {
  readonly icon: IconName
  readonly tone: string
  /** What a person can do, and the command for it. */
  readonly fix?: readonly [reason: string, command: string]
}

/** Those that need a person come first. */
const states: { readonly [Each in ExtensionStatus['state']]: StateView } = {
  quarantined: {
    icon: 'error',
    tone: 'error',
    fix: ['It stopped the kernel. It is loaded again when its files change, or after', 'enable'],
  },
  failed: { icon: 'close', tone: 'error', fix: ['Check it with', 'validate'] },
  untrusted: { icon: 'approval', tone: 'warning', fix: ['Review its files, then trust them with', 'trust'] },
  running: { icon: 'check', tone: 'ok' },
  disabled: { icon: 'pause', tone: 'muted', fix: ['Load it with', 'enable'] },
}
const order = Object.keys(states)
const isSick = ({ health }: ExtensionStatus): boolean => health?.healthy === false
const rank = (extension: ExtensionStatus): number => (isSick(extension) ? 0 : order.indexOf(extension.state))

/** The extensions of the kernel, as they are now. */
export function ExtensionsPage() {
  const page = usePage()
  const { value: extensions } = page.extensions
  return (
    <PageFrame title="Extensions">
      {extensions?.length === 0 ? (
        <p class="muted">
          No extensions are loaded. Write one with <code>troupe extensions new</code>.
        </p>
      ) : (
        <ul class="rows">
          {extensions
            ?.toSorted((a, b) => rank(a) - rank(b))
            .map((extension) => (
              <Extension key={extension.id} extension={extension} />
            ))}
        </ul>
      )}
    </PageFrame>
  )
}

const places = { kernel: 'runs in the kernel', sandbox: 'runs in a sandbox', nowhere: 'does not run' } as const

function Extension({ extension }: { readonly extension: ExtensionStatus }) {
  const { id, name, version, description, state, source, runs, trusted, capabilities, health, problems } = extension
  const { icon, tone, fix }: StateView = isSick(extension) ? { icon: 'error', tone: 'error' } : states[state]
  const fixes = fixesOf(extension, fix)
  const facts = [id, source, places[runs], trusted ? 'trusted' : 'not trusted', ...(health?.healthy ? ['healthy'] : []), ...capabilities]
  return (
    <li class="extension" aria-label={name}>
      <div class="extension-head">
        <h2 class="row-name truncate">{name}</h2>
        <span class="muted small">{version}</span>
        <span class={`badge tone-${tone}`}>
          <Icon name={icon} /> {isSick(extension) ? 'not healthy' : state === 'untrusted' ? 'off' : state}
        </span>
      </div>
      {description && (
        <p>
          <Code text={description} />
        </p>
      )}
      <p class="muted small">{facts.join(' · ')}</p>
      {state === 'untrusted' && <p>{untrustedText(name)}</p>}
      {(isSick(extension) || problems.length > 0 || fixes.size > 0) && (
        <div class="problems">
          {isSick(extension) && <p>{health?.message ?? 'It gave no reason.'}</p>}
          {problems.map(({ place, message, remedy = '' }) => (
            <p key={`${place} ${message}`}>
              {!place.endsWith(`/${id}`) && <span class="mono small muted">{shortPlace(place)} </span>}
              <Code text={sentence(message)} /> <span class="muted">{!commandIn.test(remedy) && <Code text={remedy} />}</span>
            </p>
          ))}
          {[...fixes].map(([command, reason]) => (
            <Fix key={command} reason={reason} command={command} />
          ))}
        </div>
      )}
    </li>
  )
}

const sentence = (text: string): string => asSentence(`${text.charAt(0).toUpperCase()}${text.slice(1)}`)

/** A remedy that ends with a command. */
const commandIn = /^(.*?)\s*(troupe extensions [^`]*?)\.?$/s

/** The reason by command, each once. That of the state is better than that of a problem. */
function fixesOf({ id, problems }: ExtensionStatus, fix: StateView['fix']): ReadonlyMap<string, string> {
  const found = problems.flatMap(({ remedy = '' }) => {
    const [, reason, command] = commandIn.exec(remedy) ?? []
    return reason === undefined || command === undefined ? [] : [[command, reason] as const]
  })
  return new Map([...found, ...(fix ? [[`troupe extensions ${fix[1]} ${id}`, fix[0]] as const] : [])])
}

/** The file in the folder of the extension. */
const shortPlace = (place: string): string => place.slice(place.lastIndexOf('/') + 1)

const Fix = ({ reason, command }: { readonly reason: string; readonly command: string }) => (
  <div class="fix line">
    <span>
      {reason} <code>{command}</code>
    </span>
    <CopyButton text={command} />
  </div>
)

/** Messages of the server have names in backticks. */
const Code = ({ text }: { readonly text: string }) => text.split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))
