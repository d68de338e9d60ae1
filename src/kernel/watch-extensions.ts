import type { Clock } from '../contracts/index.ts'
import type { FoundExtension } from './shared/kernel-types.ts'

/** Found twice in a row, a change is complete: editors write several files. */
const pollMs = 1_000

type Content = Pick<FoundExtension, 'id' | 'hash' | 'trusted' | 'permitted'>

interface WatchOptions {
  readonly clock: Pick<Clock, 'after'>
  /** What the kernel has loaded. */
  readonly loaded: readonly Content[]
  /** As they are now. */
  find(): Promise<readonly Content[]>
  /** Ids of those that are new, changed or gone. Nothing is watched any more. */
  onChange(ids: readonly string[]): void
  /** The kernel goes on with the form that was trusted. */
  onUntrusted(id: string): void
}

/** Watches extensions for changes. A changed one that was trusted waits until it is trusted again. Returns a function that ends it. */
export function watchExtensions({ clock, loaded, find, onChange, onUntrusted }: WatchOptions): () => void {
  const before = new Map(loaded.map((each) => [each.id, each]))
  const told = new Set<string>()
  let last = ''
  let isEnded = false
  let cancel = (): void => {}
  const look = async (): Promise<void> => {
    const found = await find()
    const waiting = found.filter(({ id, trusted }) => before.get(id)?.trusted && !trusted)
    const now = new Map(found.map((each) => [each.id, waiting.includes(each) ? before.get(each.id) : each]))
    const changed = [...new Set([...before.keys(), ...now.keys()])].filter((id) => keyOf(before.get(id)) !== keyOf(now.get(id)))
    const key = JSON.stringify(found)
    if (key === last && !isEnded) {
      for (const { id, hash } of waiting)
        if (!told.has(hash)) {
          told.add(hash)
          onUntrusted(id)
        }
      if (changed.length > 0) {
        isEnded = true
        onChange(changed)
      }
    }
    last = key
  }
  const lookLater = (): void => {
    // A file that is being written may be unreadable for a moment.
    cancel = clock.after(
      pollMs,
      () =>
        void look()
          .catch(() => {})
          .finally(() => !isEnded && lookLater()),
    )
  }
  lookLater()
  return () => {
    isEnded = true
    cancel()
  }
}

const keyOf = (content: Content | undefined): string => (content ? [content.hash, content.trusted, content.permitted].join() : '')
