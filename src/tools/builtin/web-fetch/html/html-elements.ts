export type Attributes = { readonly [name: string]: string }

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Their content is not text for a reader. */
const unreadable = names(
  'script style iframe noembed noframes xmp textarea template svg math object canvas audio video select datalist map',
)
const blocks = names(
  'address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup html li main menu nav ol p pre search section summary table tbody tfoot thead tr ul',
)
/** Blocks without an empty line between them. `TextWriter` separates whole lists. */
const tightBlocks = names('dd dt li menu ol tr ul')
const lists = names('ul ol menu')

export const isHeading = (name: string): boolean => /^h[1-6]$/.test(name)
export const isList = (name: string): boolean => lists.has(name)
/** How many line breaks separate an element from its neighbours; 0 for inline elements. */
export const breaksAround = (name: string): 0 | 1 | 2 => (blocks.has(name) ? (tightBlocks.has(name) ? 1 : 2) : 0)

export function isHidden(name: string, attributes: Attributes): boolean {
  if (unreadable.has(name)) return true
  // Scripts often show the body only when they have run.
  if (name === 'body' || name === 'html') return false
  const { hidden, style } = attributes
  if (hidden !== undefined && hidden !== 'until-found') return true
  if (attributes['aria-hidden']?.trim() === 'true') return true
  return style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]))/i.test(style)
}

/** The language of a code block, from the usual class names. */
export const codeLanguage = (attributes: Attributes): string =>
  /(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]{1,20})(?:\s|$)/.exec(attributes.class ?? '')?.[1] ?? ''

export function listStart(attributes: Attributes): number {
  const start = Number(attributes.start ?? 1)
  return Number.isSafeInteger(start) && Math.abs(start) < 1e9 ? start : 1
}
