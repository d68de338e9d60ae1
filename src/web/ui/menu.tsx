import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'
import { usePopover } from './use-popover.ts'

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  /** Beside the label. */
  readonly note?: string | undefined
  /** One of several that can be chosen. */
  readonly isChecked?: boolean
  readonly isDanger?: boolean
  onSelect(): void
}

const itemsOf = '[role^="menuitem"]'

interface MenuButtonProps {
  readonly label: string
  readonly items: readonly MenuItem[]
  readonly class: string
  readonly children: ComponentChildren
  readonly align?: 'start' | 'end'
  /** Its text says the label. */
  readonly isNamed?: boolean
}

/** A button that opens a list of actions: arrows move, Enter selects, Escape closes. */
export function MenuButton({ label, items, class: more, children, align = 'end', isNamed = false }: MenuButtonProps) {
  const { box, isOpen, toggle, close } = usePopover(itemsOf)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return
    if (event.key === 'Escape') {
      event.stopPropagation()
      close()
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      moveFocus(box.current, event.key === 'ArrowDown' ? 1 : -1)
    }
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the buttons inside
    <div class="menu-box" ref={box} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={more}
        aria-label={isNamed ? undefined : label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={toggle}
      >
        {children}
      </button>
      {isOpen && (
        <div class={`menu menu-${align} box`} role="menu" aria-label={label}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              {...roleOf(item)}
              class={item.isDanger ? 'line button-danger' : 'line'}
              onClick={() => {
                close()
                item.onSelect()
              }}
            >
              {item.icon && <Icon name={item.icon} />}
              {item.isChecked !== undefined && <Icon name="check" class={item.isChecked ? '' : 'icon-hidden'} />}
              {item.label}
              {item.note !== undefined && <span class="muted small">{item.note}</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

const roleOf = ({ isChecked }: MenuItem) =>
  isChecked === undefined ? ({ role: 'menuitem' } as const) : ({ role: 'menuitemradio', 'aria-checked': isChecked } as const)

function moveFocus(box: HTMLElement | null, by: number): void {
  const all = [...(box?.querySelectorAll<HTMLElement>(itemsOf) ?? [])]
  const at = all.indexOf(document.activeElement as HTMLElement)
  all[(at + by + all.length) % all.length]?.focus()
}
