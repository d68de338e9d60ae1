import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { matchItems } from '../state/match-items.ts'
import { usePage } from '../state/page.ts'
import { useSessionSearch } from '../state/session-search.ts'
import { keysText, matchesKeys } from '../state/shortcut-keys.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { type PaletteItem, paletteItems, paletteKeys } from './commands.ts'

const inGroup = 30
const inGroupAtStart = 6

/** Sessions, commands, pages and agents in one list. `text`: what it searches for first. */
export function CommandPalette({ text, onClose }: { readonly text: string; onClose(): void }) {
  const page = usePage()
  const [search, setSearch] = useState(text)
  const [at, setAt] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const { sessions, isOpen } = useSessionSearch(search)
  const groups = matchItems(paletteItems(page, sessions), search, search.trim() === '' ? inGroupAtStart : inGroup)
  const items = groups.flatMap((group) => group.items)
  const chosen = items[Math.min(at, items.length - 1)]
  // Before the next key: it belongs to the search, and comes after its text.
  useLayoutEffect(() => {
    input.current?.focus()
    input.current?.setSelectionRange(search.length, search.length)
  }, [])
  useEffect(() => {
    document.querySelector('.palette [aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const run = (item: PaletteItem | undefined): void => {
    if (!item) return
    onClose()
    // The dialog returns the focus first: an action may move it.
    setTimeout(() => item.run())
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.isComposing || !(by !== 0 || event.key === 'Enter' || matchesKeys(paletteKeys, event))) return
    event.preventDefault()
    if (by !== 0) setAt((Math.min(at, items.length - 1) + by + items.length) % Math.max(1, items.length))
    else if (event.key === 'Enter') run(chosen)
    else onClose()
  }
  return (
    <Dialog title="Commands" class="palette" onClose={onClose}>
      <div class="palette-search line">
        <Icon name="search" />
        <input
          ref={input}
          type="text"
          role="combobox"
          aria-label="Search sessions, agents and commands"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={chosen && optionId(chosen)}
          aria-autocomplete="list"
          placeholder="Search sessions, agents and commands"
          autoComplete="off"
          spellcheck={false}
          value={search}
          onInput={({ currentTarget }) => {
            setSearch(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div id="palette-list" class="palette-list" role="listbox" aria-label="Results">
        {groups.map(({ group, items: those }) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options
          <div key={group} role="group" aria-label={group}>
            <div class="group-title" aria-hidden="true">
              {group}
            </div>
            {those.map((item) => (
              <Option
                key={item.id}
                item={item}
                isChosen={item === chosen}
                onPoint={() => setAt(items.indexOf(item))}
                onRun={() => run(item)}
              />
            ))}
          </div>
        ))}
      </div>
      {items.length === 0 && (
        <p class="palette-empty muted">{isOpen ? 'Searching…' : `Nothing matches “${search.trim().slice(0, 80)}”.`}</p>
      )}
    </Dialog>
  )
}

const optionId = ({ id }: PaletteItem): string => `option-${id.replaceAll(' ', '-')}`

interface OptionProps {
  readonly item: PaletteItem
  readonly isChosen: boolean
  onPoint(): void
  onRun(): void
}

function Option({ item, isChosen, onPoint, onRun }: OptionProps) {
  const { name, detail, icon, keys } = item
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the text field keeps the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: the text field has the keys
    <div
      id={optionId(item)}
      class="palette-option line"
      role="option"
      aria-selected={isChosen}
      onPointerMove={isChosen ? undefined : onPoint}
      onClick={onRun}
    >
      <Icon name={icon} />
      <span class="palette-name truncate">{name}</span>
      {detail !== undefined && <span class="palette-detail truncate">{detail}</span>}
      {keys !== undefined && <kbd>{keysText(keys)}</kbd>}
    </div>
  )
}
