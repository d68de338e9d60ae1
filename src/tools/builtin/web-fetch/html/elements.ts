const names = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** They have no end tag. */
export const voids = names('area base br col embed hr img input link meta param source track wbr')

/** Nothing in them is for a reader. */
export const unread = names('template svg math object canvas audio video select datalist map')

/** They stand on lines of their own. */
export const blocks = names(
  'address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup html li main menu nav ol p pre search section summary table tbody tfoot thead tr ul',
)

/** Those of them that have no empty line between them. Of lists, their writer knows. */
export const close = names('dd dt li menu ol tr ul')

const headings = names('h1 h2 h3 h4 h5 h6')
const lists = names('ul ol menu')
const table = names('table')
const none = names('')

export const isHeading = (name: string): boolean => headings.has(name)
export const isList = (name: string): boolean => lists.has(name)

/** Which open elements an element ends by beginning, and where the search for them stops. */
interface Implied {
  readonly ends: ReadonlySet<string>
  readonly within: ReadonlySet<string>
}

const implied: { readonly [name: string]: Implied } = {
  a: { ends: names('a'), within: names('td th table') },
  li: { ends: names('li'), within: lists },
  dt: { ends: names('dt dd'), within: names('dl') },
  dd: { ends: names('dt dd'), within: names('dl') },
  tr: { ends: names('tr'), within: table },
  td: { ends: names('td th'), within: names('tr table') },
  th: { ends: names('td th'), within: names('tr table') },
  tbody: { ends: names('thead tbody tfoot'), within: table },
  tfoot: { ends: names('thead tbody tfoot'), within: table },
}
const beforeHeading: Implied = { ends: names('p h1 h2 h3 h4 h5 h6'), within: names('div section article td th li table a') }
const beforeBlock: Implied = { ends: names('p'), within: names('div section article td th li table button a') }
const nothing: Implied = { ends: none, within: none }

export function impliedEnds(name: string): Implied {
  if (Object.hasOwn(implied, name)) return implied[name] ?? nothing
  if (headings.has(name)) return beforeHeading
  return blocks.has(name) ? beforeBlock : nothing
}
