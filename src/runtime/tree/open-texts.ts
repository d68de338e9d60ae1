import type { InteractionEvent, ItemDelta } from '../../contracts/index.ts'

/** Beyond this, only the end of a text is kept: a program may print without end. */
const maxChars = 1024 ** 2

interface OpenText {
  /** The last piece. */
  piece: ItemDelta
  /** Characters before `text`: 0, unless it was too long. */
  start: number
  text: string
}

/**
 * The streamed texts of items that are in progress, for readers that come late.
 *
 * 1. A text is dropped when its item or turn ends, when its step fails, and when a later attempt begins.
 * 2. A piece costs a comparison and a concatenation, as long as one item streams at a time.
 */
export class OpenTexts {
  /** By session, item and kind. */
  readonly #all = new Map<string, OpenText>()
  #last: OpenText | undefined

  add(piece: ItemDelta): void {
    if (piece.kind === 'progress') return
    const open = this.#last && isSame(this.#last.piece, piece) ? this.#last : this.#find(piece)
    open.piece = piece
    open.text += piece.text
    if (open.text.length > maxChars) cut(open)
    this.#last = open
  }

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  end(event: InteractionEvent): void {
    switch (event.type) {
      case 'interaction.item.completed':
      case 'interaction.item.updated':
        this.#drop(({ sessionId, itemId }) => sessionId === event.sessionId && itemId === event.itemId)
        break
      case 'interaction.step.failed':
        this.#drop(({ sessionId, stepId }) => sessionId === event.sessionId && stepId === event.stepId)
        break
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted':
        this.#drop(({ sessionId }) => sessionId === event.sessionId)
        break
      default:
    }
  }

  /** Each as one piece. */
  pieces(): readonly ItemDelta[] {
    return [...this.#all.values()].map(({ piece, start, text }) => ({ ...piece, text, offset: start }))
  }

  #find(piece: ItemDelta): OpenText {
    const key = `${piece.sessionId}\n${piece.itemId}\n${piece.kind}`
    const known = this.#all.get(key)
    if (known && known.piece.attempt === piece.attempt) return known
    const open = { piece, start: piece.offset, text: '' }
    this.#all.set(key, open)
    return open
  }

  #drop(isOver: (piece: ItemDelta) => boolean): void {
    for (const [key, { piece }] of this.#all) if (isOver(piece)) this.#all.delete(key)
    this.#last = undefined
  }
}

const isSame = (one: ItemDelta, other: ItemDelta): boolean =>
  one.itemId === other.itemId && one.kind === other.kind && one.sessionId === other.sessionId && one.attempt === other.attempt

function cut(open: OpenText): void {
  const half = maxChars / 2
  open.start += open.text.length - half
  open.text = open.text.slice(-half)
}
