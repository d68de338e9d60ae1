import { Icon, type IconName } from './icon.tsx'

interface IconButtonProps {
  readonly icon: IconName
  /** The name for screen readers, and the tooltip. */
  readonly label: string
  onClick(event: MouseEvent): void
  readonly isPressed?: boolean
  readonly isDisabled?: boolean
  readonly class?: string
}

export function IconButton({ icon, label, onClick, isPressed, isDisabled, class: more = '' }: IconButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button ${more}`}
      aria-label={label}
      title={label}
      onClick={onClick}
      disabled={isDisabled}
      aria-pressed={isPressed}
    >
      <Icon name={icon} />
    </button>
  )
}
