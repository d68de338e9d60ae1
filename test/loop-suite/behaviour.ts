import type { LoopAdapter } from './conversation.ts'

/** One thing that the loop does, whatever model it talks to. Its name is the key in an adapter's `cannot`. */
export interface Behaviour {
  readonly name: string
  readonly shows: string
  run(adapter: LoopAdapter): Promise<void>
}
