import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'

export function Notices() {
  const { notices, dismiss } = usePage()
  return (
    <div class="notices stack" role="status" aria-live="polite">
      {notices.value.map(({ id, kind, text, remedy }) => (
        <div key={id} class={`notice notice-${kind} line box`}>
          <span class={`mark ${kind === 'error' ? 'tone-error' : 'tone-ok'}`}>
            <Icon name={kind === 'error' ? 'error' : 'check'} />
          </span>
          <div class="grow">
            {text}
            {remedy && <div class="muted small">{remedy}</div>}
          </div>
          <IconButton icon="close" label="Close message" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
