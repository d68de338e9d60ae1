import { size } from '../../view/index.ts'
import type { Attachment } from '../state/drafts.ts'
import { chipText, settingFields, settingProblem, type TypedSettings, typedNames } from '../state/turn-settings.ts'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'

export function AttachmentChips({ attachments, onRemove }: { readonly attachments: readonly Attachment[]; onRemove(index: number): void }) {
  if (attachments.length === 0) return null
  return (
    <ul class="message-attachments plain-list" aria-label="Attachments">
      {attachments.map(({ name, bytes, part }, index) => (
        <li key={`${index} ${name}`} class="message-attachment line box">
          {part.type === 'image' ? <img src={`data:${part.mediaType};base64,${part.data}`} alt="" /> : <Icon name="file" />}
          <span class="truncate">{name}</span>
          <span class="muted small">{size(bytes)}</span>
          <RemoveButton label={`Remove ${name}`} onClick={() => onRemove(index)} />
        </li>
      ))}
    </ul>
  )
}

/** The model has a menu, which shows it. */
export function SettingChips({ typed, onChange }: { readonly typed: TypedSettings; onChange(typed: TypedSettings): void }) {
  const names = typedNames(typed).filter((name) => name !== 'model' && settingProblem(name, typed[name] ?? '') === undefined)
  if (names.length === 0) return null
  return (
    <ul class="message-attachments plain-list" aria-label="From the next turn on">
      {names.map((name) => (
        <li key={name} class="message-attachment message-chip line box small" title="From the next turn on">
          <span class="truncate">{chipText(name, typed[name] ?? '')}</span>
          <RemoveButton label={`Remove ${settingFields[name].label}`} onClick={() => onChange({ ...typed, [name]: '' })} />
        </li>
      ))}
    </ul>
  )
}

const RemoveButton = ({ label, onClick }: { readonly label: string; onClick(): void }) => (
  <IconButton
    icon="close"
    label={label}
    class="message-remove"
    onClick={({ currentTarget }) => {
      // The focus would be lost with the button.
      ;(currentTarget as Element).closest('.message-box')?.querySelector('textarea')?.focus()
      onClick()
    }}
  />
)
