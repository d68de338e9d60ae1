import { Growing } from '../../growing.ts'

export interface Button {
  readonly label: string
  /** What the platform sends back when it is pressed. */
  readonly id: string
  readonly value?: string
}

/** A message as people see it. */
export interface Post {
  readonly id: string
  /** Where it is: as the platform names the channel and, if there is one, the thread. */
  readonly place: string
  readonly text: string
  readonly buttons: readonly Button[]
  /** The only person who sees it. */
  readonly onlyFor?: string
  readonly files: readonly { readonly name: string; readonly bytes: number }[]
  /** Its texts, from the first one to `text`: more than one if it was streamed or edited. */
  readonly states: readonly string[]
  /** When its first text was shown, by the clock of `performance.now()`. */
  readonly firstTextAt?: number
  /** As the platform has it. */
  readonly raw: unknown
}

export type NewPost = Pick<Post, 'id' | 'place' | 'text'> & Partial<Pick<Post, 'buttons' | 'onlyFor' | 'files' | 'raw'>>

/** What the bot has posted. */
export class Posts extends Growing<readonly Post[]> {
  constructor() {
    super([])
  }

  add({ buttons = [], files = [], raw, ...post }: NewPost): void {
    const states = post.text === '' ? [] : [post.text]
    this.set([...this.value, { ...post, buttons, files, raw, states, ...(post.text !== '' && { firstTextAt: performance.now() }) }])
  }

  /** Whether there is one with this id. */
  change(id: string, change: Partial<Pick<Post, 'text' | 'buttons' | 'raw'>>): boolean {
    const before = this.value.find((post) => post.id === id)
    if (before === undefined) return false
    const isNewText = change.text !== undefined && change.text !== before.text
    const after = {
      ...before,
      ...change,
      ...(isNewText && { states: [...before.states, change.text ?? ''], firstTextAt: before.firstTextAt ?? performance.now() }),
    }
    this.set(this.value.map((post) => (post === before ? after : post)))
    return true
  }

  remove(id: string): boolean {
    const left = this.value.filter((post) => post.id !== id)
    const isRemoved = left.length < this.value.length
    this.set(left)
    return isRemoved
  }

  in(place: string): readonly Post[] {
    return this.value.filter((post) => post.place === place)
  }

  /** The first one in a place that matches. */
  untilOne(place: string, matches: (post: Post) => boolean, what: string): Promise<Post> {
    return this.until((posts) => posts.find((post) => post.place === place && matches(post)), `${what} in ${place}`).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}\nPosts: ${JSON.stringify(this.value, ['id', 'place', 'text', 'label', 'buttons', 'onlyFor'], 1)}`)
      },
    )
  }
}
