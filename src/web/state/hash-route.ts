// The address of a view is the fragment of the URL: the server has one page.

export type HashRoute =
  | { readonly view: 'new'; readonly agent?: string }
  /** `message`: the message to show, by its id. */
  | { readonly view: 'session'; readonly id: string; readonly message?: string }
  | { readonly view: 'approvals' }
  | { readonly view: 'agents'; readonly agent?: string }
  | { readonly view: 'extensions' }
  | { readonly view: 'settings' }

export function parseHash(hash: string): HashRoute {
  const [view = '', first, kind, second] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decoded)
  switch (view) {
    case 'sessions':
      // It becomes a part of paths: an address that somebody else wrote must not name other routes.
      if (first === undefined || !/^[\w-]+$/.test(first)) return { view: 'new' }
      return { view: 'session', id: first, ...(kind === 'messages' && second && { message: second }) }
    case 'agents':
      return { view: 'agents', ...(first && { agent: first }) }
    case 'approvals':
    case 'extensions':
    case 'settings':
      return { view }
    default:
      return { view: 'new', ...(view === 'new' && first && { agent: first }) }
  }
}

export function hashOf(route: HashRoute): string {
  const path = (...parts: readonly string[]): string => `#/${parts.map(encodeURIComponent).join('/')}`
  switch (route.view) {
    case 'session':
      return route.message === undefined ? path('sessions', route.id) : path('sessions', route.id, 'messages', route.message)
    case 'agents':
      return route.agent === undefined ? path('agents') : path('agents', route.agent)
    case 'new':
      return route.agent === undefined ? path('new') : path('new', route.agent)
    default:
      return path(route.view)
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
