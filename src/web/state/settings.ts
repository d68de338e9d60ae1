import { effect, type Signal, signal } from '@preact/signals'
import { localTexts, onStored, readJson } from './browser-storage.ts'

/** Settings of this browser. */
export interface Settings {
  readonly theme: 'system' | 'light' | 'dark'
  readonly density: 'comfortable' | 'compact'
  /** Widths of the panes in pixels. */
  readonly sidebarWidth: number
  readonly timelineWidth: number
  /** Height of the details below the timeline. */
  readonly detailsHeight: number
  readonly isSidebarOpen: boolean
  readonly isTimelineOpen: boolean
  /** Whether letters without Ctrl or ⌘ are commands. */
  readonly hasLetterKeys: boolean
  /** Whether long lines of code and changes wrap. */
  readonly wrapsLines: boolean
  /** Whether the desktop tells of sessions that wait or end while the page is hidden. */
  readonly notifies: boolean
  /** The agent of the last new session. */
  readonly lastAgent: string
}

/** The width of the timeline at first: a third of the window. */
function aThird(): number {
  return Math.round(Math.min(800, Math.max(360, innerWidth * 0.34)))
}

const defaults: Settings = {
  theme: 'system',
  density: 'comfortable',
  sidebarWidth: 264,
  timelineWidth: aThird(),
  detailsHeight: 380,
  isSidebarOpen: true,
  isTimelineOpen: true,
  hasLetterKeys: true,
  wrapsLines: false,
  notifies: false,
  lastAgent: '',
}

/** The stored settings. Every change is stored and applied to the document. */
export function openSettings(): Signal<Settings> {
  const settings = signal(storedSettings())
  effect(() => {
    const { theme, density, wrapsLines } = settings.value
    Object.assign(document.documentElement.dataset, { theme, density, lines: wrapsLines ? 'wrap' : 'scroll' })
    localTexts.set('settings', JSON.stringify(settings.value))
  })
  onStored('settings', () => {
    // The layout is that of each tab.
    const { theme, density, hasLetterKeys, wrapsLines, notifies } = storedSettings()
    settings.value = { ...settings.value, theme, density, hasLetterKeys, wrapsLines, notifies }
  })
  return settings
}

function storedSettings(): Settings {
  const stored = Object.entries(readJson(localTexts, 'settings') ?? {})
  const known = stored.filter(([key, value]) => key in defaults && typeof value === typeof defaults[key as keyof Settings])
  return { ...defaults, ...Object.fromEntries(known) }
}
