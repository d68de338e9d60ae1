import { effect, type Signal, signal } from '@preact/signals'

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
  /** The agent of the last new session. */
  readonly lastAgent: string
}

const defaults: Settings = {
  theme: 'system',
  density: 'comfortable',
  sidebarWidth: 264,
  timelineWidth: 500,
  detailsHeight: 300,
  isSidebarOpen: true,
  isTimelineOpen: true,
  hasLetterKeys: true,
  lastAgent: '',
}

const place = 'troupe.settings'

/** The stored settings. Every change is stored and applied to the document. */
export function openSettings(): Signal<Settings> {
  const settings = signal<Settings>({ ...defaults, ...stored() })
  effect(() => {
    const { theme, density } = settings.value
    document.documentElement.dataset.theme = theme
    document.documentElement.dataset.density = density
    try {
      localStorage.setItem(place, JSON.stringify(settings.value))
    } catch {
      // The browser stores nothing: settings last as long as the page.
    }
  })
  return settings
}

function stored(): Partial<Settings> {
  try {
    const known: unknown = JSON.parse(localStorage.getItem(place) ?? '{}')
    if (typeof known !== 'object' || known === null) return {}
    return Object.fromEntries(
      Object.entries(known).filter(([key, value]) => key in defaults && typeof value === typeof defaults[key as keyof Settings]),
    )
  } catch {
    return {}
  }
}
