import { useEffect } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import { keysText, matchesKeys, worksInText } from '../state/shortcut-keys.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Facts } from '../ui/facts.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { CommandPalette } from './command-palette.tsx'
import { commandFor, commands, paletteKeys } from './commands.ts'

/** Binds the keys of all commands, and shows the dialogs that they open. */
export function Shortcuts() {
  const page = usePage()
  const { value: overlay } = page.overlay
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]')) return
      const opensPalette = matchesKeys(paletteKeys, event)
      const command = opensPalette ? undefined : commandFor(page, event, isTyping(event.target))
      if (!opensPalette && !command) return
      event.preventDefault()
      if (command?.isOnce && event.repeat) return
      if (command) command.run(page)
      else page.show({ kind: 'palette', text: '' })
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  const close = (): void => page.show(undefined)
  if (overlay?.kind === 'palette') return <CommandPalette key={overlay.text} text={overlay.text} onClose={close} />
  if (overlay?.kind !== 'keys') return null
  return (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      <div class="line">
        <h2 class="grow">Keyboard shortcuts</h2>
        <IconButton icon="close" label="Close" onClick={close} />
      </div>
      <ShortcutList />
    </Dialog>
  )
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), textarea, select'))

/** Keys of other parts, which work where they are used. */
const others = [
  ['Send the message', keysText('Enter')],
  ['New line', keysText('Shift+Enter')],
  ['Steer the agent while it works', keysText('Alt+Enter')],
  ['Timeline: move, open and close rows', '↑ ↓ ← →'],
  ['Timeline: zoom in, zoom out, fit', '+ − 0'],
  ['Timeline: filter', '/'],
] as const

export function ShortcutList() {
  const { hasLetterKeys } = usePage().settings.value
  const own = commands.flatMap(({ name, keys }) =>
    keys !== undefined && (hasLetterKeys || worksInText(keys)) ? [[name.split(':')[0] ?? name, keysText(keys)] as const] : [],
  )
  const all = [['Search and commands', keysText(paletteKeys)] as const, ...own, ...others]
  return <Facts facts={all.map(([name, keys]) => [name, <kbd key={name}>{keys}</kbd>])} />
}
