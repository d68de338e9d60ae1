import type { SessionDocument } from '../api/documents.ts'
import type { IconName } from '../ui/icon.tsx'
import { cancelTurn } from './actions.ts'
import type { Page } from './page.ts'
import { exportSession } from './session-files.ts'
import type { Settings } from './settings.ts'
import { matchesKeys, type PressedKey, worksInText } from './shortcut-keys.ts'

// What people can do from everywhere: the palette lists it, and keys call it.

export interface Command {
  readonly group: 'Actions' | 'Go to'
  readonly name: string
  readonly icon: IconName
  readonly keys?: string
  /** Default: always. */
  isAvailable?(page: Page): boolean
  run(page: Page): void
}

const isRunning = ({ session }: Page): boolean => session.value?.isRunning() ?? false
const hasSession = ({ session }: Page): boolean => session.value !== undefined

const theme = (name: Settings['theme']): Command => ({
  group: 'Actions',
  name: `Theme: ${name}`,
  icon: 'settings',
  isAvailable: ({ settings }) => settings.value.theme !== name,
  run: (page) => page.set({ theme: name }),
})

export const commands: readonly Command[] = [
  { group: 'Actions', name: 'New session', icon: 'plus', keys: 'N', run: (page) => page.go({ view: 'new' }) },
  {
    group: 'Actions',
    name: 'Stop: let the agent finish with a last answer',
    icon: 'stop',
    keys: 'Mod+.',
    isAvailable: isRunning,
    run: (page) => cancel(page, 'stop'),
  },
  {
    group: 'Actions',
    name: 'Interrupt: end the turn immediately',
    icon: 'close',
    isAvailable: isRunning,
    run: (page) => cancel(page, 'interrupt'),
  },
  {
    group: 'Actions',
    name: 'Write a message',
    icon: 'message',
    keys: 'M',
    isAvailable: () => messageBox() !== null,
    run: () => messageBox()?.focus(),
  },
  {
    group: 'Actions',
    name: 'Show or hide the timeline',
    icon: 'timeline',
    keys: 'T',
    isAvailable: hasSession,
    run: toggleTimeline,
  },
  {
    group: 'Actions',
    name: 'Show or hide the sessions',
    icon: 'sidebar',
    keys: 'Mod+B',
    isAvailable: () => matchMedia('(min-width: 600px)').matches,
    run: (page) => page.set({ isSidebarOpen: !page.settings.value.isSidebarOpen }),
  },
  ...(['json', 'html'] as const).map(
    (format): Command => ({
      group: 'Actions',
      name: `Export the session as ${format.toUpperCase()}`,
      icon: 'download',
      isAvailable: hasSession,
      run: (page) => void (page.session.value && exportSession(page, page.session.value.id, format)),
    }),
  ),
  { group: 'Actions', name: 'Next session', icon: 'arrowDown', keys: 'J', run: (page) => goToNeighbour(page, 1) },
  { group: 'Actions', name: 'Previous session', icon: 'arrowUp', keys: 'K', run: (page) => goToNeighbour(page, -1) },
  { group: 'Go to', name: 'Approvals', icon: 'approval', keys: 'A', run: (page) => page.go({ view: 'approvals' }) },
  { group: 'Go to', name: 'Agents', icon: 'agent', run: (page) => page.go({ view: 'agents' }) },
  {
    group: 'Go to',
    name: 'Extensions',
    icon: 'extension',
    isAvailable: ({ extensions }) => (extensions.value ?? []).length > 0,
    run: (page) => page.go({ view: 'extensions' }),
  },
  { group: 'Go to', name: 'Settings', icon: 'settings', keys: 'Mod+,', run: (page) => page.go({ view: 'settings' }) },
  theme('light'),
  theme('dark'),
  theme('system'),
  {
    group: 'Actions',
    name: 'Keyboard shortcuts',
    icon: 'command',
    keys: '?',
    run: (page) => page.show({ kind: 'keys' }),
  },
]

export const paletteKeys = 'Mod+K'

/** The command of a key. Letters are no commands while a person types. */
export function commandFor(page: Page, pressed: PressedKey, isTyping: boolean): Command | undefined {
  return commands.find(
    ({ keys, isAvailable }) =>
      keys !== undefined &&
      matchesKeys(keys, pressed) &&
      (worksInText(keys) || (!isTyping && page.settings.value.hasLetterKeys)) &&
      (isAvailable?.(page) ?? true),
  )
}

/** An entry of the palette. */
export interface PaletteItem {
  readonly id: string
  readonly group: string
  readonly name: string
  readonly detail?: string
  readonly icon: IconName
  readonly keys?: string
  run(): void
}

export const newSessionWith = 'New session with'

/** Everything that the palette offers now. */
export function paletteItems(page: Page, sessions: readonly SessionDocument[]): readonly PaletteItem[] {
  const available = commands.filter(({ isAvailable }) => isAvailable?.(page) ?? true)
  return [
    ...sessions.map(({ sessionId, title, agent }) => ({
      id: sessionId,
      group: 'Sessions',
      name: title || agent,
      detail: agent,
      icon: 'message' as const,
      run: () => page.go({ view: 'session', id: sessionId }),
    })),
    ...available.map((command) => ({ ...command, id: `command ${command.name}`, run: () => command.run(page) })),
    ...page.agents.value.map(({ name, description }) => ({
      id: `agent ${name}`,
      group: 'Agents',
      name: `${newSessionWith} ${name}`,
      detail: description,
      icon: 'agent' as const,
      run: () => page.go({ view: 'new', agent: name }),
    })),
  ]
}

const cancel = (page: Page, mode: 'stop' | 'interrupt'): void => {
  if (page.session.value) void cancelTurn(page, page.session.value, mode)
}

const messageBox = (): HTMLElement | null => document.querySelector('#main textarea[aria-label="Message"]:not(:disabled)')

/** Beside the conversation where there is room, and instead of it elsewhere. */
function toggleTimeline(page: Page): void {
  if (matchMedia('(max-width: 899px)').matches) page.tab.value = page.tab.value === 'timeline' ? 'conversation' : 'timeline'
  else page.set({ isTimelineOpen: !page.settings.value.isTimelineOpen })
}

function goToNeighbour(page: Page, by: 1 | -1): void {
  const { value: sessions } = page.sessions
  const at = sessions.findIndex(({ sessionId }) => sessionId === page.session.value?.id)
  const next = sessions[at < 0 ? 0 : at + by]
  if (next) page.go({ view: 'session', id: next.sessionId })
}
