import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'

/** What concerns the whole page: a lost connection, warnings of the server. */
export function Banners() {
  const { connection, status } = usePage()
  return (
    <div role="status" aria-live="polite">
      {connection.value.kind === 'lost' && (
        <div class="banner line banner-warning">
          <Icon name="running" class="spin" />
          <span class="banner-text">Reconnecting: the server does not answer. Nothing is lost.</span>
        </div>
      )}
      {(status.value?.warnings ?? []).map((warning) => (
        <div key={warning} class="banner line banner-warning">
          <Icon name="error" />
          <span class="banner-text">{warning}</span>
        </div>
      ))}
    </div>
  )
}
