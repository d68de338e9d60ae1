// Icons on a grid of 16, drawn as lines.
const paths = {
  agent: 'M8 2v2M4 6a2 2 0 0 1 2-2h4a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2zM6.5 7.5v1M9.5 7.5v1M2 8h2M12 8h2',
  approval: 'M8 1.8l5 1.8v4c0 3.2-2 5.6-5 6.6-3-1-5-3.4-5-6.6v-4zM5.8 8l1.6 1.6 2.9-3',
  arrowDown: 'M8 3v10M4 9l4 4 4-4',
  arrowUp: 'M8 13V3M4 7l4-4 4 4',
  attach: 'M13 7.5l-5.2 5.2a3.2 3.2 0 0 1-4.5-4.5l5.6-5.6a2.1 2.1 0 0 1 3 3l-5.5 5.5a1 1 0 0 1-1.5-1.5L9.8 4.7',
  branch:
    'M4.5 5.5v5M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 6.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 6.5c0 2.5-4.5 1.8-6.6 4.1',
  check: 'M3 8.5l3.2 3.2L13 5',
  chevron: 'M6 3.5L10.5 8 6 12.5',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6',
  close: 'M4 4l8 8M12 4l-8 8',
  command: 'M3 4l4 4-4 4M8.5 12H13',
  copy: 'M6 6h7v7H6zM10 3H3v7',
  download: 'M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10',
  edit: 'M3 13l.7-3L10.5 3.2a1.4 1.4 0 0 1 2.2 2.2L6 12.3z',
  error: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.6M8 10.8v.2',
  extension: 'M6 3.5a1.5 1.5 0 0 1 3 0V5h3.5v3H11a1.5 1.5 0 0 0 0 3h1.5v2.5H4V10H2.8a1.5 1.5 0 0 1 0-3H4V5h2z',
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  filter: 'M2 4h12M4.5 8h7M7 12h2',
  fit: 'M2 5V2h3M14 5V2h-3M2 11v3h3M14 11v3h-3M5 8h6',
  follow: 'M2 8h8M7 4.5L10.5 8 7 11.5M13.5 3v10',
  link: 'M6.8 9.2a2.5 2.5 0 0 0 3.5 0l2.2-2.2A2.5 2.5 0 0 0 9 3.5l-1 1M9.2 6.8a2.5 2.5 0 0 0-3.5 0L3.5 9A2.5 2.5 0 0 0 7 12.5l1-1',
  menu: 'M2 4h12M2 8h12M2 12h12',
  message: 'M2.5 3.5h11v8H7L4 14v-2.5H2.5z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  plan: 'M2.5 4l1 1 2-2M2.5 8.5l1 1 2-2M2.5 13l1 1 2-2M8 4.5h5.5M8 9h5.5M8 13.5h5.5',
  plus: 'M8 3v10M3 8h10',
  question: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.3a1.8 1.8 0 1 1 2.5 1.9c-.5.2-.8.6-.8 1.2M8 11.3v.1',
  reasoning: 'M8 2.2a4 4 0 0 0-2.4 7.2V11h4.8V9.4A4 4 0 0 0 8 2.2zM6.2 13.5h3.6',
  retry: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.8h-2.8',
  running: 'M8 2a6 6 0 1 1-6 6',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3L14 14',
  settings:
    'M2 4.5h5M10.5 4.5H14M2 11.5h3.5M9 11.5h5M8.8 6.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM7.2 13.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z',
  sidebar: 'M2 3h12v10H2zM6 3v10',
  steer: 'M3 13V9a3 3 0 0 1 3-3h6.5M9.5 3l3 3-3 3',
  stop: 'M4 4h8v8H4z',
  timeline: 'M2 4h5M5 8h6M9 12h5',
  tool: 'M13.5 4.5a3.2 3.2 0 0 1-4.3 3L4.8 12a1.6 1.6 0 0 1-2.3-2.3l4.5-4.4a3.2 3.2 0 0 1 4-4L9 3.4l.3 1.6 1.6.3z',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.2 4.5l.6 9h6.4l.6-9',
  usage: 'M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6',
} as const

export type IconName = keyof typeof paths

/** Decoration: what it means is said beside it. */
export function Icon({ name, class: more = '' }: { readonly name: IconName; readonly class?: string }) {
  return (
    <svg class={`icon ${more}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
