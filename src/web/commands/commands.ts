import type { SessionDocument } from '../api/documents.ts'
import { exportSession } from '../export/session-files.ts'
import { cancelTurn } from '../state/actions.ts'
import { readOnly } from '../state/continuation.ts'
import type { Page } from '../state/page.ts'
import { matchesKeys, type PressedKey, worksInText } from '../state/shortcut-keys.ts'
import type { IconName } from '../ui/icon.tsx'

// What people can do from everywhere: the palette lists it, and keys call it.

interface Command {
  readonly group: 'Actions' | 'Go to'
  readonly name: string
  readonly icon: IconName
  readonly keys?: string
  /** A key that is held calls it once. */
  readonly isOnce?: boolean
  /** Default: always. */
  isAvailable?(page: Page): boolean
  run(page: Page): void
}

const canStop = (page: Page): boolean => {
  const { value: store } = page.session
  return store?.isRunning() === true && !readOnly(page, store.id)
}
const hasSession = ({ session }: Page): boolean => session.value !== undefined
const isWide = (): boolean => matchMedia('(min-width: 600px)').matches
const hasExtensions = ({ extensions }: Page): boolean => (extensions.value ?? []).length > 0
const mayConnect = ({ status }: Page): boolean => status.value?.connect !== undefined
const messageBox = (): HTMLElement | null => document.querySelector('#main textarea[aria-label="Message"]:not(:disabled)')

/** Keys that answer the first request on the page. */
export const answerKeys = { allow: 'Y', always: 'U', deny: 'D' } as const

const answerSelectors = { allow: '[data-answer="allow"]', always: '.approval-always', deny: '[data-answer="deny"]' } as const

/** A card that has just moved is not answered by a key that was meant for another one. */
const answerButton = (answer: keyof typeof answerKeys): HTMLElement | null =>
  document
    .querySelector('#main .approval:not([data-moved]) fieldset:not(:disabled)')
    ?.querySelector<HTMLElement>(answerSelectors[answer]) ?? null

const answerWith = (answer: keyof typeof answerKeys, name: string): Omit<Command, 'group'> => ({
  name,
  icon: 'approval',
  keys: answerKeys[answer],
  isOnce: true,
  isAvailable: () => answerButton(answer) !== null,
  run: () => answerButton(answer)?.click(),
})

const actions: readonly Omit<Command, 'group'>[] = [
  { name: 'New session', icon: 'plus', keys: 'N', run: (page) => page.go({ view: 'new' }) },
  { name: 'Stop: end the turn immediately', icon: 'stop', keys: 'Mod+.', isAvailable: canStop, run: cancel('interrupt') },
  { name: 'Finish with a short answer', icon: 'check', isAvailable: canStop, run: cancel('stop') },
  { name: 'Write a message', icon: 'message', keys: 'M', isAvailable: () => messageBox() !== null, run: () => messageBox()?.focus() },
  answerWith('allow', 'Allow once: the first request'),
  answerWith('always', 'Always allow…: the first request'),
  answerWith('deny', 'Deny: the first request'),
  { name: 'Show or hide the timeline', icon: 'timeline', keys: 'T', isAvailable: hasSession, run: toggleTimeline },
  { name: 'Show or hide the sessions', icon: 'sidebar', keys: 'Mod+B', isAvailable: isWide, run: toggleSidebar },
  { name: 'Export the session as JSON', icon: 'download', isAvailable: hasSession, run: exportAs('json') },
  { name: 'Export the session as HTML', icon: 'download', isAvailable: hasSession, run: exportAs('html') },
  { name: 'Next session', icon: 'arrowDown', keys: 'J', run: goToNeighbour(1) },
  { name: 'Previous session', icon: 'arrowUp', keys: 'K', run: goToNeighbour(-1) },
  { name: 'Keyboard shortcuts', icon: 'command', keys: '?', run: (page) => page.show({ kind: 'keys' }) },
]

const places: readonly Omit<Command, 'group'>[] = [
  { name: 'Approvals', icon: 'approval', keys: 'A', run: (page) => page.go({ view: 'approvals' }) },
  { name: 'Agents', icon: 'agent', run: (page) => page.go({ view: 'agents' }) },
  { name: 'Extensions', icon: 'extension', isAvailable: hasExtensions, run: (page) => page.go({ view: 'extensions' }) },
  { name: 'Usage', icon: 'usage', run: (page) => page.go({ view: 'usage' }) },
  { name: 'Connect a model', icon: 'plus', isAvailable: mayConnect, run: (page) => page.go({ view: 'connect' }) },
  { name: 'Settings', icon: 'settings', keys: 'Mod+,', run: (page) => page.go({ view: 'settings' }) },
]

export const commands: readonly Command[] = [
  ...actions.map((command) => ({ ...command, group: 'Actions' as const })),
  ...places.map((command) => ({ ...command, group: 'Go to' as const })),
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

function cancel(mode: 'stop' | 'interrupt') {
  return (page: Page): void => void (page.session.value && cancelTurn(page, page.session.value, mode))
}

function exportAs(format: 'json' | 'html') {
  return (page: Page): void => void (page.session.value && exportSession(page, page.session.value.id, format))
}

/** Beside the conversation where there is room, and instead of it elsewhere. */
function toggleTimeline({ tab, settings, set }: Page): void {
  if (matchMedia('(max-width: 899px)').matches) tab.value = tab.value === 'timeline' ? 'conversation' : 'timeline'
  else set({ isTimelineOpen: !settings.value.isTimelineOpen })
}

function toggleSidebar({ settings, set }: Page): void {
  set({ isSidebarOpen: !settings.value.isSidebarOpen })
}

function goToNeighbour(by: 1 | -1) {
  return ({ sessions, session, go }: Page): void => {
    const at = sessions.value.findIndex(({ sessionId }) => sessionId === session.value?.id)
    const next = sessions.value[at < 0 ? 0 : at + by]
    if (next) go({ view: 'session', id: next.sessionId })
  }
}
