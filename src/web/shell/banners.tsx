import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'

/** What concerns the whole page: a lost connection, warnings of the server. Several warnings open from one line. */
export function Banners() {
  const { connection, status } = usePage()
  const warnings = status.value?.warnings ?? []
  return (
    <div role="status" aria-live="polite">
      {connection.value.kind === 'lost' && (
        <div class="banner line banner-warning">
          <Icon name="running" class="spin" />
          <span class="grow">Reconnecting. {connection.value.reason} Nothing is lost.</span>
        </div>
      )}
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
