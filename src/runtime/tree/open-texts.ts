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
  /** By session, item and kind. There are few. */
  #all: OpenText[] = []
  #last: OpenText | undefined

  get isEmpty(): boolean {
    return this.#all.length === 0
  }

  add(piece: ItemDelta): void {
    if (piece.kind === 'progress') return
    const open = this.#last && isSameText(this.#last.piece, piece) ? this.#last : this.#find(piece)
    // A later attempt replaces an earlier one.
    if (open.piece.attempt !== piece.attempt) Object.assign(open, { start: piece.offset, text: '' })
    open.piece = piece
    open.text += piece.text
    if (open.text.length > maxChars) cut(open)
    this.#last = open
  }

  end(event: InteractionEvent): void {
    const left = this.#all.filter(({ piece }) => !isOver(piece, event))
    if (left.length === this.#all.length) return
    this.#all = left
    this.#last = undefined
  }

  /** Each as one piece. */
  pieces(): readonly ItemDelta[] {
    return this.#all.map(({ piece, start, text }) => ({ ...piece, text, offset: start }))
  }

  #find(piece: ItemDelta): OpenText {
    const known = this.#all.find((each) => isSameText(each.piece, piece))
    if (known) return known
    const open = { piece, start: piece.offset, text: '' }
    this.#all.push(open)
    return open
  }
}

const isSameText = (one: ItemDelta, other: ItemDelta): boolean =>
  one.itemId === other.itemId && one.kind === other.kind && one.sessionId === other.sessionId

function isOver({ sessionId, stepId, itemId }: ItemDelta, event: InteractionEvent): boolean {
  if (sessionId !== event.sessionId) return false
  switch (event.type) {
    case 'interaction.item.completed':
    case 'interaction.item.updated':
      return itemId === event.itemId
    case 'interaction.step.failed':
      return stepId === event.stepId
    case 'interaction.turn.completed':
    case 'interaction.turn.failed':
    case 'interaction.turn.interrupted':
      return true
    default:
      return false
  }
}

function cut(open: OpenText): void {
  const half = maxChars / 2
  open.start += open.text.length - half
  open.text = open.text.slice(-half)
}
