import { type UsageGrouping, usageGroupings } from '../../contracts/index.ts'
import { decodeComponent } from '../../util/decode-component.ts'
// The address of a view is the fragment of the URL: the server has one page.

export type HashRoute =
  | { readonly view: 'new' | 'agents'; readonly agent?: string }
  | { readonly view: 'usage'; readonly by?: UsageGrouping }
  /** `message`: the message to show, by its id. */
  | { readonly view: 'session'; readonly id: string; readonly message?: string }
  | { readonly view: 'approvals' | 'connect' | 'extensions' | 'settings' }

export function parseHash(hash: string): HashRoute {
  const [view = '', first, kind, second] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decodeComponent)
  switch (view) {
    case 'sessions':
      // It becomes a part of paths: an address that somebody else wrote must not name other routes.
      if (first === undefined || !/^[\w-]+$/.test(first)) return { view: 'new' }
      return { view: 'session', id: first, ...(kind === 'messages' && second && { message: second }) }
    case 'new':
    case 'agents':
      return { view, ...(first && { agent: first }) }
    case 'usage': {
      const by = usageGroupings.find((each) => each === first)
      return { view, ...(by && { by }) }
    }
    case 'approvals':
    case 'connect':
    case 'extensions':
    case 'settings':
      return { view }
    default:
      return { view: 'new' }
  }
}

export function hashOf(route: HashRoute): string {
  const parts =
    route.view === 'session'
      ? ['sessions', route.id, ...(route.message === undefined ? [] : ['messages', route.message])]
      : [route.view, ('agent' in route && route.agent) || ('by' in route && route.by)].filter(Boolean)
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

/** Takes the token out of `#token=…`, so that it is not in the history. `instead`: the fragment that stays. */
export function takeToken(instead: string): string | undefined {
  const given = /^#token=(.*)$/.exec(location.hash)?.[1]
  if (given === undefined) return undefined
  history.replaceState(null, '', `${location.pathname}${instead}`)
  return /^[\w.~-]+$/.test(given) ? given : undefined
}
