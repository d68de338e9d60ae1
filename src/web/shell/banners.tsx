import { useState } from 'preact/hooks'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { untrustedText } from '../ui/agent-facts.ts'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'

/** What concerns the whole page: a lost connection, warnings of the server. Several warnings open from one line. */
export function Banners() {
  const page = usePage()
  const { connection, status } = page
  const warnings = status.value?.warnings ?? []
  return (
    <div role="status" aria-live="polite">
      {connection.value.kind === 'lost' && (
        <div class="banner line banner-warning">
          <Icon name="running" class="spin" />
          <span class="grow">Reconnecting. {connection.value.reason} Nothing is lost.</span>
        </div>
      )}
      {page.isAdmin.value && page.route.value.view !== 'extensions' && <Untrusted />}
      {warnings.length === 1 && (
        <div class="banner line banner-warning">
          <Icon name="error" />
          <span class="grow">{warnings[0]}</span>
        </div>
      )}
      {warnings.length > 1 && (
        <details class="banner banner-warning">
          <summary>{warnings.length} warnings of the server</summary>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

/** Closed, it comes back when another extension waits for trust. */
function Untrusted() {
  const { extensions } = usePage()
  const [closed, setClosed] = useState('')
  const names = (extensions.value ?? []).filter(({ state }) => state === 'untrusted').map(({ name }) => name)
  const [first] = names
  if (first === undefined || closed === names.join()) return null
  return (
    <div class="banner line">
      <Icon name="extension" />
      <span class="grow">
        {names.length === 1 ? untrustedText(first) : `${names.length} extensions are off: you haven’t trusted them yet.`}{' '}
        <a href={hashOf({ view: 'extensions' })}>Review</a>
      </span>
      <IconButton icon="close" label="Close" onClick={() => setClosed(names.join())} />
    </div>
  )
}
